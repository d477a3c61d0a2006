export { live } from "./live.ts";
