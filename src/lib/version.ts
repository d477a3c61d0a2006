import { readFileSync } from "node:fs";

// The same one level up from src/lib and dist/lib.
const manifest: { readonly version: string; readonly engines: { readonly node: string } } = JSON.parse(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
);

/** The version of this package. */
export const VERSION: string = manifest.version;

/** The versions of Node that it runs on: `{ node: ">=22.18" }`. */
export const ENGINES = manifest.engines;
