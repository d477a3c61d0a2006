import { readFileSync } from "node:fs";

// The path is the same from src/base/lib and dist/lib.
const manifest: { readonly version: string; readonly engines: { readonly node: string } } = JSON.parse(
  readFileSync(new URL("../../../package.json", import.meta.url), "utf8"),
);

export const VERSION: string = manifest.version;

/** The supported versions of Node: `{ node: ">=22.18" }`. */
export const ENGINES = manifest.engines;
