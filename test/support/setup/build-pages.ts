import { fileURLToPath } from "node:url";
import { build } from "vite";

/** Builds the pages before all tests, so that a gateway serves the current sources. */
export async function setup(): Promise<void> {
  for (const name of ["dashboard", "widget"]) {
    await build({ root: fileURLToPath(new URL(`../../../src/clients/${name}/`, import.meta.url)) });
  }
}
