export { enrich } from "./enrich.ts";
