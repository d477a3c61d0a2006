import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

/** The SDK as one minified module, as the bundler of a page would make it. */
export async function bundleClient(): Promise<string> {
  const input = fileURLToPath(new URL("../../src/client/index.ts", import.meta.url));
  await using bundle = await rolldown({ input, platform: "browser" });
  const { output } = await bundle.generate({ format: "es", minify: true });
  const [chunk, ...others] = output;
  if (others.length > 0) throw new Error(`${others.length} files more than the one`);
  return chunk.code;
}
