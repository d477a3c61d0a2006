import { fileURLToPath } from "node:url";
import { build } from "vite";

/** Before all tests: what a gateway serves as pages is what the sources are now. */
export async function setup(): Promise<void> {
  await build({ root: fileURLToPath(new URL("../../src/dashboard/", import.meta.url)) });
}
