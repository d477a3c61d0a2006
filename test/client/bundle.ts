import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

/** The SDK as one minified module, as the bundler of a page would make it. */
export function bundleClient(): Promise<string> {
  return bundle("../../src/client/index.ts");
}

/** {@link assemble} likewise. */
export function bundleCompany(): Promise<string> {
  return bundle("./company.ts");
}

async function bundle(from: string): Promise<string> {
  const input = fileURLToPath(new URL(from, import.meta.url));
  await using made = await rolldown({ input, platform: "browser" });
  const { output } = await made.generate({ format: "es", minify: true });
  const [chunk, ...others] = output;
  if (others.length > 0) throw new Error(`${others.length} files more than the one`);
  return chunk.code;
}
