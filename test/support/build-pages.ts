import { fileURLToPath } from "node:url";
import { build } from "vite";

/** Before all tests: what a gateway serves as pages is what the sources are now. */
export async function setup(): Promise<void> {
  for (const room of ["dashboard", "widget"]) {
    await build({ root: fileURLToPath(new URL(`../../src/${room}/`, import.meta.url)) });
  }
}
