import type { TableRows } from "./odds-table.ts";

/**
 * How 580 flares of 121 real tokens ended. Made on 2026-11-29 by
 * `npm run odds`.
 *
 * Origin: 400 Uniswap V2 pools on Ethereum with at least 20 trades, created in September and
 * October 2021 (collected by AlexDeLos, RugPullDetection). Their times are estimated from block
 * numbers, and each transaction counts as another trader. In a bucket's key, the number after a
 * name is that of its range. Each row: flares; rugged within an hour, of how many; higher after 15
 * minutes, of how many; after 60 minutes, of how many; median change after 60 minutes in percent.
 */
export const POOLS_TABLE: TableRows = {
  trades: [580, 6, 580, 280, 579, 283, 579, 0],
  "trades age_s=0": [44, 4, 44, 26, 44, 29, 44, 82.2],
  "trades age_s=0 liquidity=0": [1, 0, 1, 1, 1, 1, 1, 1013.5],
  "trades age_s=0 liquidity=1": [37, 3, 37, 22, 37, 25, 37, 80.3],
  "trades age_s=0 liquidity=2": [6, 1, 6, 3, 6, 3, 6, 51.7],
  "trades age_s=0 locked=0": [40, 4, 40, 23, 40, 26, 40, 78.1],
  "trades age_s=0 locked=0 liquidity=0": [1, 0, 1, 1, 1, 1, 1, 1013.5],
  "trades age_s=0 locked=0 liquidity=1": [33, 3, 33, 19, 33, 22, 33, 75.9],
  "trades age_s=0 locked=0 liquidity=2": [6, 1, 6, 3, 6, 3, 6, 51.7],
  "trades age_s=0 locked=1": [4, 0, 4, 3, 4, 3, 4, 84.3],
  "trades age_s=0 locked=1 liquidity=1": [4, 0, 4, 3, 4, 3, 4, 84.3],
  "trades age_s=1": [9, 0, 9, 9, 9, 8, 9, 194.1],
  "trades age_s=1 liquidity=0": [2, 0, 2, 2, 2, 2, 2, 421],
  "trades age_s=1 liquidity=1": [4, 0, 4, 4, 4, 3, 4, 122.7],
  "trades age_s=1 liquidity=2": [3, 0, 3, 3, 3, 3, 3, 181.1],
  "trades age_s=1 locked=0": [3, 0, 3, 3, 3, 2, 3, 181.1],
  "trades age_s=1 locked=0 liquidity=1": [1, 0, 1, 1, 1, 0, 1, -7.2],
  "trades age_s=1 locked=0 liquidity=2": [2, 0, 2, 2, 2, 2, 2, 389.6],
  "trades age_s=1 locked=1": [6, 0, 6, 6, 6, 6, 6, 214.5],
  "trades age_s=1 locked=1 liquidity=0": [2, 0, 2, 2, 2, 2, 2, 421],
  "trades age_s=1 locked=1 liquidity=1": [3, 0, 3, 3, 3, 3, 3, 194.1],
  "trades age_s=1 locked=1 liquidity=2": [1, 0, 1, 1, 1, 1, 1, 43.1],
  "trades age_s=2": [25, 0, 25, 12, 25, 13, 25, 8.1],
  "trades age_s=2 liquidity=0": [3, 0, 3, 3, 3, 2, 3, 8.4],
  "trades age_s=2 liquidity=1": [11, 0, 11, 6, 11, 6, 11, 8.1],
  "trades age_s=2 liquidity=2": [11, 0, 11, 3, 11, 5, 11, -8.4],
  "trades age_s=2 locked=0": [8, 0, 8, 4, 8, 6, 8, 13.7],
  "trades age_s=2 locked=0 liquidity=0": [1, 0, 1, 1, 1, 1, 1, 8.4],
  "trades age_s=2 locked=0 liquidity=1": [3, 0, 3, 2, 3, 2, 3, 25.8],
  "trades age_s=2 locked=0 liquidity=2": [4, 0, 4, 1, 4, 3, 4, 13.7],
  "trades age_s=2 locked=1": [17, 0, 17, 8, 17, 7, 17, -7.7],
  "trades age_s=2 locked=1 liquidity=0": [2, 0, 2, 2, 2, 1, 2, 87.4],
  "trades age_s=2 locked=1 liquidity=1": [8, 0, 8, 4, 8, 4, 8, 0.2],
  "trades age_s=2 locked=1 liquidity=2": [7, 0, 7, 2, 7, 2, 7, -9.1],
  "trades age_s=3": [496, 2, 496, 228, 495, 228, 495, 0],
  "trades age_s=3 liquidity=1": [80, 2, 80, 43, 80, 41, 80, 0.8],
  "trades age_s=3 liquidity=2": [416, 0, 416, 185, 415, 187, 415, 0],
  "trades age_s=3 locked=0": [210, 2, 210, 53, 210, 53, 210, -3.2],
  "trades age_s=3 locked=0 liquidity=1": [42, 2, 42, 14, 42, 14, 42, -4.8],
  "trades age_s=3 locked=0 liquidity=2": [168, 0, 168, 39, 168, 39, 168, -3.1],
  "trades age_s=3 locked=1": [271, 0, 271, 168, 270, 166, 270, 2.8],
  "trades age_s=3 locked=1 liquidity=1": [31, 0, 31, 25, 31, 22, 31, 11.8],
  "trades age_s=3 locked=1 liquidity=2": [240, 0, 240, 143, 239, 144, 239, 2.3],
  "trades liquidity=0": [8, 0, 8, 8, 8, 7, 8, 421],
  "trades liquidity=1": [135, 5, 135, 78, 135, 77, 135, 6.1],
  "trades liquidity=2": [437, 1, 437, 194, 436, 199, 436, 0],
  "trades locked=0": [263, 6, 263, 84, 263, 89, 263, -2.7],
  "trades locked=0 liquidity=0": [3, 0, 3, 3, 3, 3, 3, 859.1],
  "trades locked=0 liquidity=1": [79, 5, 79, 36, 79, 38, 79, -1.9],
  "trades locked=0 liquidity=2": [181, 1, 181, 45, 181, 48, 181, -2.9],
  "trades locked=1": [300, 0, 300, 187, 299, 184, 299, 3.1],
  "trades locked=1 liquidity=0": [5, 0, 5, 5, 5, 4, 5, 262.7],
  "trades locked=1 liquidity=1": [47, 0, 47, 36, 47, 33, 47, 13.4],
  "trades locked=1 liquidity=2": [248, 0, 248, 146, 247, 147, 247, 2.3],
};
