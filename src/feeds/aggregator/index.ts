export { aggregator } from "./aggregator.ts";
