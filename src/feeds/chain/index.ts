export { chain } from "./chain.ts";
