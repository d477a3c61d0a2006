import type { Counts } from "./tally.ts";
export const POOLS_TABLE: Readonly<Record<string, Counts & { readonly median: number | null }>> = {};
