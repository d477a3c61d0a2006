export { upstream } from "./upstream.ts";
