import type { OddsTable } from "./tally.ts";

export const POOLS_TABLE: OddsTable = {};
