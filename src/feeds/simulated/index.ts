export { simulated } from "./simulated.ts";
