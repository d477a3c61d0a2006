import type { TableRows } from "./odds-table.ts";

/**
 * How 177 flares of 126 real tokens ended. Made on 2026-11-29 by
 * `npm run odds`.
 *
 * Origin: 400 Uniswap V2 pools on Ethereum with at least 20 trades, created in September and
 * October 2021 (collected by AlexDeLos, RugPullDetection). Their times are estimated from block
 * numbers, and each transaction counts as another trader. In a bucket's key, the number after a
 * name is that of its range. Each row: flares; rugged within an hour, of how many; higher after 15
 * minutes, of how many; after 60 minutes, of how many; median change after 60 minutes in percent.
 */
export const POOLS_TABLE: TableRows = {
  trades: [177, 7, 177, 115, 177, 105, 177, 17.4],
  "trades age_s=0": [74, 6, 74, 43, 74, 43, 74, 65.5],
  "trades age_s=0 liquidity=0": [10, 0, 10, 7, 10, 5, 10, 13],
  "trades age_s=0 liquidity=1": [57, 5, 57, 31, 57, 34, 57, 75.9],
  "trades age_s=0 liquidity=2": [7, 1, 7, 5, 7, 4, 7, 52.3],
  "trades age_s=0 locked=0": [71, 6, 71, 41, 71, 42, 71, 73],
  "trades age_s=0 locked=0 liquidity=0": [9, 0, 9, 6, 9, 5, 9, 52.4],
  "trades age_s=0 locked=0 liquidity=1": [55, 5, 55, 30, 55, 33, 55, 75.9],
  "trades age_s=0 locked=0 liquidity=2": [7, 1, 7, 5, 7, 4, 7, 52.3],
  "trades age_s=0 locked=1": [3, 0, 3, 2, 3, 1, 3, -26.4],
  "trades age_s=0 locked=1 liquidity=0": [1, 0, 1, 1, 1, 0, 1, -26.4],
  "trades age_s=0 locked=1 liquidity=1": [2, 0, 2, 1, 2, 1, 2, 1029.1],
  "trades age_s=1": [15, 0, 15, 14, 15, 14, 15, 247.7],
  "trades age_s=1 liquidity=0": [2, 0, 2, 2, 2, 2, 2, 508.8],
  "trades age_s=1 liquidity=1": [9, 0, 9, 8, 9, 8, 9, 247.7],
  "trades age_s=1 liquidity=2": [4, 0, 4, 4, 4, 4, 4, 112.1],
  "trades age_s=1 locked=0": [5, 0, 5, 5, 5, 5, 5, 365.9],
  "trades age_s=1 locked=0 liquidity=1": [3, 0, 3, 3, 3, 3, 3, 365.9],
  "trades age_s=1 locked=0 liquidity=2": [2, 0, 2, 2, 2, 2, 2, 389.6],
  "trades age_s=1 locked=1": [10, 0, 10, 9, 10, 9, 10, 214.9],
  "trades age_s=1 locked=1 liquidity=0": [2, 0, 2, 2, 2, 2, 2, 508.8],
  "trades age_s=1 locked=1 liquidity=1": [6, 0, 6, 5, 6, 5, 6, 214.9],
  "trades age_s=1 locked=1 liquidity=2": [2, 0, 2, 2, 2, 2, 2, 35.5],
  "trades age_s=2": [19, 0, 19, 10, 19, 10, 19, 8.1],
  "trades age_s=2 liquidity=0": [2, 0, 2, 2, 2, 1, 2, 48.6],
  "trades age_s=2 liquidity=1": [7, 0, 7, 5, 7, 4, 7, 8.1],
  "trades age_s=2 liquidity=2": [10, 0, 10, 3, 10, 5, 10, -0.2],
  "trades age_s=2 locked=0": [4, 0, 4, 2, 4, 3, 4, 12.2],
  "trades age_s=2 locked=0 liquidity=1": [1, 0, 1, 1, 1, 1, 1, 62.4],
  "trades age_s=2 locked=0 liquidity=2": [3, 0, 3, 1, 3, 2, 3, 8.1],
  "trades age_s=2 locked=1": [15, 0, 15, 8, 15, 7, 15, -3.4],
  "trades age_s=2 locked=1 liquidity=0": [2, 0, 2, 2, 2, 1, 2, 48.6],
  "trades age_s=2 locked=1 liquidity=1": [6, 0, 6, 4, 6, 3, 6, 0.2],
  "trades age_s=2 locked=1 liquidity=2": [7, 0, 7, 2, 7, 3, 7, -8.4],
  "trades age_s=3": [64, 1, 64, 43, 64, 34, 64, 5.3],
  "trades age_s=3 liquidity=1": [8, 1, 8, 7, 8, 6, 8, 85.9],
  "trades age_s=3 liquidity=2": [56, 0, 56, 36, 56, 28, 56, 2.3],
  "trades age_s=3 locked=0": [9, 1, 9, 6, 9, 3, 9, -8.1],
  "trades age_s=3 locked=0 liquidity=1": [1, 1, 1, 1, 1, 0, 1, -100],
  "trades age_s=3 locked=0 liquidity=2": [8, 0, 8, 5, 8, 3, 8, -7.4],
  "trades age_s=3 locked=1": [50, 0, 50, 34, 50, 28, 50, 6.9],
  "trades age_s=3 locked=1 liquidity=1": [4, 0, 4, 4, 4, 4, 4, 156],
  "trades age_s=3 locked=1 liquidity=2": [46, 0, 46, 30, 46, 24, 46, 4.7],
  "trades liquidity=0": [16, 0, 16, 13, 16, 10, 16, 113],
  "trades liquidity=1": [84, 6, 84, 54, 84, 54, 84, 78.1],
  "trades liquidity=2": [77, 1, 77, 48, 77, 41, 77, 5.9],
  "trades locked=0": [90, 7, 90, 55, 90, 54, 90, 55],
  "trades locked=0 liquidity=0": [10, 0, 10, 7, 10, 6, 10, 88.9],
  "trades locked=0 liquidity=1": [60, 6, 60, 35, 60, 37, 60, 74.4],
  "trades locked=0 liquidity=2": [20, 1, 20, 13, 20, 11, 20, 12.2],
  "trades locked=1": [80, 0, 80, 55, 80, 47, 80, 11.6],
  "trades locked=1 liquidity=0": [6, 0, 6, 6, 6, 4, 6, 191.3],
  "trades locked=1 liquidity=1": [19, 0, 19, 15, 19, 14, 19, 90.2],
  "trades locked=1 liquidity=2": [55, 0, 55, 34, 55, 29, 55, 4.7],
};
