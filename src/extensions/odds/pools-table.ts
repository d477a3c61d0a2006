import type { TableRows } from "./odds-table.ts";

/**
 * How 603 flares of 141 real tokens ended. Made on 2026-11-29 by
 * `npm run odds`.
 *
 * Origin: 400 Uniswap V2 pools on Ethereum with at least 20 trades, created in September and
 * October 2021 (collected by AlexDeLos, RugPullDetection). Their times are estimated from block
 * numbers, and each transaction counts as another trader. In a bucket's key, the number after a
 * name is that of its range. Each row: flares; rugged within an hour, of how many; higher after 15
 * minutes, of how many; after 60 minutes, of how many; median change after 60 minutes in percent.
 */
export const POOLS_TABLE: TableRows = {
  trades: [603, 8, 603, 295, 602, 296, 602, 0],
  "trades age_s=0": [66, 6, 66, 40, 66, 39, 66, 78.1],
  "trades age_s=0 liquidity=0": [9, 0, 9, 6, 9, 4, 9, -26.4],
  "trades age_s=0 liquidity=1": [51, 5, 51, 30, 51, 32, 51, 96.1],
  "trades age_s=0 liquidity=2": [6, 1, 6, 4, 6, 3, 6, 66.8],
  "trades age_s=0 locked=0": [64, 6, 64, 38, 64, 38, 64, 78.1],
  "trades age_s=0 locked=0 liquidity=0": [8, 0, 8, 5, 8, 4, 8, 2.9],
  "trades age_s=0 locked=0 liquidity=1": [50, 5, 50, 29, 50, 31, 50, 88.2],
  "trades age_s=0 locked=0 liquidity=2": [6, 1, 6, 4, 6, 3, 6, 66.8],
  "trades age_s=0 locked=1": [2, 0, 2, 2, 2, 1, 2, 1044.2],
  "trades age_s=0 locked=1 liquidity=0": [1, 0, 1, 1, 1, 0, 1, -26.4],
  "trades age_s=0 locked=1 liquidity=1": [1, 0, 1, 1, 1, 1, 1, 2114.8],
  "trades age_s=1": [15, 0, 15, 14, 15, 14, 15, 247.7],
  "trades age_s=1 liquidity=0": [2, 0, 2, 2, 2, 2, 2, 508.8],
  "trades age_s=1 liquidity=1": [9, 0, 9, 8, 9, 8, 9, 247.7],
  "trades age_s=1 liquidity=2": [4, 0, 4, 4, 4, 4, 4, 112.1],
  "trades age_s=1 locked=0": [5, 0, 5, 5, 5, 5, 5, 317.4],
  "trades age_s=1 locked=0 liquidity=1": [3, 0, 3, 3, 3, 3, 3, 317.4],
  "trades age_s=1 locked=0 liquidity=2": [2, 0, 2, 2, 2, 2, 2, 389.6],
  "trades age_s=1 locked=1": [10, 0, 10, 9, 10, 9, 10, 214.9],
  "trades age_s=1 locked=1 liquidity=0": [2, 0, 2, 2, 2, 2, 2, 508.8],
  "trades age_s=1 locked=1 liquidity=1": [6, 0, 6, 5, 6, 5, 6, 214.9],
  "trades age_s=1 locked=1 liquidity=2": [2, 0, 2, 2, 2, 2, 2, 35.5],
  "trades age_s=2": [24, 0, 24, 12, 24, 13, 24, 8.3],
  "trades age_s=2 liquidity=0": [3, 0, 3, 3, 3, 2, 3, 8.4],
  "trades age_s=2 liquidity=1": [11, 0, 11, 6, 11, 6, 11, 8.1],
  "trades age_s=2 liquidity=2": [10, 0, 10, 3, 10, 5, 10, 0.9],
  "trades age_s=2 locked=0": [8, 0, 8, 4, 8, 6, 8, 13.7],
  "trades age_s=2 locked=0 liquidity=0": [1, 0, 1, 1, 1, 1, 1, 8.4],
  "trades age_s=2 locked=0 liquidity=1": [3, 0, 3, 2, 3, 2, 3, 25.8],
  "trades age_s=2 locked=0 liquidity=2": [4, 0, 4, 1, 4, 3, 4, 13.7],
  "trades age_s=2 locked=1": [16, 0, 16, 8, 16, 7, 16, -5.5],
  "trades age_s=2 locked=1 liquidity=0": [2, 0, 2, 2, 2, 1, 2, 87.4],
  "trades age_s=2 locked=1 liquidity=1": [8, 0, 8, 4, 8, 4, 8, 0.2],
  "trades age_s=2 locked=1 liquidity=2": [6, 0, 6, 2, 6, 2, 6, -11.1],
  "trades age_s=3": [492, 2, 492, 224, 491, 225, 491, 0],
  "trades age_s=3 liquidity=1": [78, 2, 78, 41, 78, 39, 78, 0.3],
  "trades age_s=3 liquidity=2": [414, 0, 414, 183, 413, 186, 413, 0],
  "trades age_s=3 locked=0": [210, 2, 210, 53, 210, 53, 210, -3.2],
  "trades age_s=3 locked=0 liquidity=1": [42, 2, 42, 14, 42, 14, 42, -4.8],
  "trades age_s=3 locked=0 liquidity=2": [168, 0, 168, 39, 168, 39, 168, -3.1],
  "trades age_s=3 locked=1": [267, 0, 267, 164, 266, 163, 266, 2.7],
  "trades age_s=3 locked=1 liquidity=1": [29, 0, 29, 23, 29, 20, 29, 11.8],
  "trades age_s=3 locked=1 liquidity=2": [238, 0, 238, 141, 237, 143, 237, 2.3],
  "trades liquidity=0": [16, 0, 16, 13, 16, 10, 16, 88.9],
  "trades liquidity=1": [152, 7, 152, 88, 152, 87, 152, 7.3],
  "trades liquidity=2": [435, 1, 435, 194, 434, 199, 434, 0],
  "trades locked=0": [289, 8, 289, 101, 289, 104, 289, -2.5],
  "trades locked=0 liquidity=0": [10, 0, 10, 7, 10, 6, 10, 30.4],
  "trades locked=0 liquidity=1": [98, 7, 98, 48, 98, 50, 98, 1.3],
  "trades locked=0 liquidity=2": [181, 1, 181, 46, 181, 48, 181, -2.9],
  "trades locked=1": [297, 0, 297, 185, 296, 182, 296, 3],
  "trades locked=1 liquidity=0": [6, 0, 6, 6, 6, 4, 6, 230.1],
  "trades locked=1 liquidity=1": [45, 0, 45, 34, 45, 31, 45, 19.1],
  "trades locked=1 liquidity=2": [246, 0, 246, 145, 245, 147, 245, 2.3],
};
