/** Pairs for freqtrade. */
export { pairlist } from "./pairlist-extension.ts";
