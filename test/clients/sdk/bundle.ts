import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

/** Returns the SDK as one minified module, as a page's bundler would build it. */
export function bundleClient(): Promise<string> {
  return bundle("../../../src/clients/sdk/index.ts");
}

/** Returns {@link startGroup} as one minified module. */
export function bundleStreamGroup(): Promise<string> {
  return bundle("./stream-group.ts");
}

async function bundle(from: string): Promise<string> {
  const input = fileURLToPath(new URL(from, import.meta.url));
  await using made = await rolldown({ input, platform: "browser" });
  const { output } = await made.generate({ format: "es", minify: true });
  const [chunk, ...others] = output;
  if (others.length > 0) throw new Error(`expected one output file, got ${output.length}`);
  return chunk.code;
}
