import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build, type Plugin } from "vite";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const SOURCES = join(ROOT, "src/");
const BUNDLE = join(ROOT, "node_modules/.cache/program");

/** Modules in the bundle look for files where their sources would, but for the other bundle. */
const sourceAddresses: Plugin = {
  name: "source-addresses",
  transform: (code, id) =>
    id.startsWith(SOURCES) && !id.endsWith("/start-workers.ts")
      ? code.replaceAll("import.meta.url", JSON.stringify(pathToFileURL(id).href))
      : undefined,
};

/**
 * Before the tests that start the program a hundred times: bundles its sources as they are now with
 * what they import. A start then takes half of its CPU time.
 */
export async function setup(): Promise<void> {
  mkdirSync(BUNDLE, { recursive: true });
  // Else each start first tries whether it is CommonJS.
  writeFileSync(join(BUNDLE, "package.json"), '{"type":"module"}');
  for (const entry of ["main.ts", "gateway/worker.ts"]) {
    await build({
      ...{ root: ROOT, configFile: false, logLevel: "error", plugins: [sourceAddresses] },
      ssr: { noExternal: true },
      build: {
        ...{ ssr: join(SOURCES, entry), outDir: BUNDLE, emptyOutDir: false, minify: false, target: "esnext" },
        rolldownOptions: { output: { codeSplitting: false } },
      },
    });
  }
  process.env.BUNDLED_PROGRAM = join(BUNDLE, "main.js");
}
