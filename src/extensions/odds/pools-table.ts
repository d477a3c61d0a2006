import type { TableRows } from "./odds-table.ts";

/**
 * How 538 flares of 129 real tokens ended. Made on 2026-11-29 by `npm run odds`.
 *
 * Origin: 400 Uniswap V2 pools on Ethereum with at least 20 trades, created in September and
 * October 2021 (collected by AlexDeLos, RugPullDetection). Their times are estimated from block
 * numbers, and each transaction counts as another trader. In a bucket's key, the number after a
 * name is that of its range. Each row: flares; rugged within an hour, of how many; higher after 15
 * minutes, of how many; after 60 minutes, of how many; median change after 60 minutes in percent.
 */
export const POOLS_TABLE: TableRows = {
  trades: [538, 6, 538, 256, 537, 259, 537, 0],
  "trades age_s=0": [57, 5, 57, 38, 57, 39, 57, 80.3],
  "trades age_s=0 liquidity=0": [2, 0, 2, 2, 2, 2, 2, 172.7],
  "trades age_s=0 liquidity=1": [48, 4, 48, 30, 48, 32, 48, 88.2],
  "trades age_s=0 liquidity=2": [7, 1, 7, 6, 7, 5, 7, 52.3],
  "trades age_s=0 locked=0": [55, 5, 55, 36, 55, 37, 55, 80.3],
  "trades age_s=0 locked=0 liquidity=0": [2, 0, 2, 2, 2, 2, 2, 172.7],
  "trades age_s=0 locked=0 liquidity=1": [46, 4, 46, 28, 46, 30, 46, 88.2],
  "trades age_s=0 locked=0 liquidity=2": [7, 1, 7, 6, 7, 5, 7, 52.3],
  "trades age_s=0 locked=1": [2, 0, 2, 2, 2, 2, 2, 1088.1],
  "trades age_s=0 locked=1 liquidity=1": [2, 0, 2, 2, 2, 2, 2, 1088.1],
  "trades age_s=1": [14, 0, 14, 12, 14, 12, 14, 210.7],
  "trades age_s=1 liquidity=0": [2, 0, 2, 2, 2, 2, 2, 421],
  "trades age_s=1 liquidity=1": [7, 0, 7, 5, 7, 5, 7, 240.3],
  "trades age_s=1 liquidity=2": [5, 0, 5, 5, 5, 5, 5, 92.2],
  "trades age_s=1 locked=0": [5, 0, 5, 4, 5, 4, 5, 240.3],
  "trades age_s=1 locked=0 liquidity=1": [3, 0, 3, 2, 3, 2, 3, 240.3],
  "trades age_s=1 locked=0 liquidity=2": [2, 0, 2, 2, 2, 2, 2, 389.6],
  "trades age_s=1 locked=1": [9, 0, 9, 8, 9, 8, 9, 92.2],
  "trades age_s=1 locked=1 liquidity=0": [2, 0, 2, 2, 2, 2, 2, 421],
  "trades age_s=1 locked=1 liquidity=1": [4, 0, 4, 3, 4, 3, 4, 149.5],
  "trades age_s=1 locked=1 liquidity=2": [3, 0, 3, 3, 3, 3, 3, 43.1],
  "trades age_s=2": [21, 0, 21, 11, 21, 13, 21, 14.1],
  "trades age_s=2 liquidity=0": [2, 0, 2, 2, 2, 2, 2, 81.7],
  "trades age_s=2 liquidity=1": [9, 0, 9, 6, 9, 6, 9, 23.6],
  "trades age_s=2 liquidity=2": [10, 0, 10, 3, 10, 5, 10, 2.8],
  "trades age_s=2 locked=0": [7, 0, 7, 4, 7, 5, 7, 16.3],
  "trades age_s=2 locked=0 liquidity=0": [1, 0, 1, 1, 1, 1, 1, 8.4],
  "trades age_s=2 locked=0 liquidity=1": [3, 0, 3, 2, 3, 2, 3, 25.8],
  "trades age_s=2 locked=0 liquidity=2": [3, 0, 3, 1, 3, 2, 3, 16.3],
  "trades age_s=2 locked=1": [14, 0, 14, 7, 14, 8, 14, 11.1],
  "trades age_s=2 locked=1 liquidity=0": [1, 0, 1, 1, 1, 1, 1, 155],
  "trades age_s=2 locked=1 liquidity=1": [6, 0, 6, 4, 6, 4, 6, 15.9],
  "trades age_s=2 locked=1 liquidity=2": [7, 0, 7, 2, 7, 3, 7, -8.4],
  "trades age_s=3": [441, 1, 441, 190, 440, 191, 440, 0],
  "trades age_s=3 liquidity=1": [72, 1, 72, 40, 72, 38, 72, 1.4],
  "trades age_s=3 liquidity=2": [369, 0, 369, 150, 368, 153, 368, -0.5],
  "trades age_s=3 locked=0": [197, 1, 197, 48, 197, 49, 197, -3.3],
  "trades age_s=3 locked=0 liquidity=1": [40, 1, 40, 15, 40, 15, 40, -4.2],
  "trades age_s=3 locked=0 liquidity=2": [157, 0, 157, 33, 157, 34, 157, -3.2],
  "trades age_s=3 locked=1": [234, 0, 234, 138, 233, 137, 233, 2.3],
  "trades age_s=3 locked=1 liquidity=1": [28, 0, 28, 22, 28, 20, 28, 9.7],
  "trades age_s=3 locked=1 liquidity=2": [206, 0, 206, 116, 205, 117, 205, 2.1],
  "trades liquidity=0": [8, 0, 8, 8, 8, 8, 8, 277.9],
  "trades liquidity=1": [139, 5, 139, 84, 139, 83, 139, 8.3],
  "trades liquidity=2": [391, 1, 391, 164, 390, 168, 390, -0.2],
  "trades locked=0": [265, 6, 265, 93, 265, 96, 265, -2.5],
  "trades locked=0 liquidity=0": [4, 0, 4, 4, 4, 4, 4, 172.7],
  "trades locked=0 liquidity=1": [92, 5, 92, 47, 92, 49, 92, 4.7],
  "trades locked=0 liquidity=2": [169, 1, 169, 42, 169, 43, 169, -3.1],
  "trades locked=1": [261, 0, 261, 157, 260, 157, 260, 3],
  "trades locked=1 liquidity=0": [4, 0, 4, 4, 4, 4, 4, 421],
  "trades locked=1 liquidity=1": [41, 0, 41, 32, 41, 30, 41, 13.4],
  "trades locked=1 liquidity=2": [216, 0, 216, 121, 215, 123, 215, 2.1],
};
