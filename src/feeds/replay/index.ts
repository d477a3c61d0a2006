export { plainDecimal } from "../plain-decimal.ts";
export {
  containerProblem,
  importCure,
  intervalProblem,
  readTime,
  strangeInterval,
  textProblem,
} from "./read/foreign-kind.ts";
export { BytesEndedError, readBytes } from "./read/read-bytes.ts";
export { replay } from "./replay.ts";
export { ReplayFeed, type ReplayProgress } from "./replay-feed.ts";
