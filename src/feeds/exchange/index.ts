export { exchange } from "./exchange.ts";
