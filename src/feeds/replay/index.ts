export { plainDecimal } from "../plain-decimal.ts";
export { containerProblem, intervalProblem, readTime, strangeInterval } from "./read/foreign-kind.ts";
export { readBytes } from "./read/read-bytes.ts";
export { replay } from "./replay.ts";
export { ReplayFeed, type ReplayProgress } from "./replay-feed.ts";
