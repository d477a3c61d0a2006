import { readFileSync } from "node:fs";

// The same one level up from src/lib and dist/lib.
const manifest: { readonly version: string } = JSON.parse(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
);

/** The version of this package. */
export const VERSION: string = manifest.version;
