/** A page and a picture for each flare and token. */
export { permalinks } from "./permalinks-extension.ts";
