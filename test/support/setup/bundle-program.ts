import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build, type Plugin } from "vite";
import { spawnCli } from "../../app/cli/spawn-cli.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const SOURCES = join(ROOT, "src/");
const BUNDLE = join(ROOT, "node_modules/.cache/program");

/**
 * Lets bundled modules find files relative to their sources. Imports of `node:http` become
 * `process.getBuiltinModule`. An import also loads the implementation of `fetch`, which is a
 * quarter of a short program's CPU time.
 */
const asSources: Plugin = {
  name: "as-sources",
  transform: (code, id) =>
    id.startsWith(SOURCES)
      ? code.replaceAll("import.meta.url", JSON.stringify(pathToFileURL(id).href))
      : undefined,
  renderChunk: (code) =>
    code.replaceAll(
      /^import \{(.*)\} from ("node:https?");$/gm,
      (_, names: string, module) =>
        `const {${names.replaceAll(" as ", ": ")}} = process.getBuiltinModule(${module});`,
    ),
};

/**
 * Bundles the current sources with their imports before the tests that start the program a hundred
 * times. A start then takes a third of the CPU time.
 */
export async function setup(): Promise<void> {
  mkdirSync(BUNDLE, { recursive: true });
  // Without this, each start first tries to parse the bundle as CommonJS.
  writeFileSync(join(BUNDLE, "package.json"), '{"type":"module"}');
  await build({
    ...{ root: ROOT, configFile: false, logLevel: "error", plugins: [asSources] },
    ssr: { noExternal: true },
    build: {
      ...{ ssr: true, outDir: BUNDLE, emptyOutDir: false, minify: false, target: "esnext" },
      rolldownOptions: {
        input: join(SOURCES, "main.ts"),
        output: { chunkFileNames: "[name].js" },
      },
    },
  });
  process.env.BUNDLED_PROGRAM = join(BUNDLE, "main.js");
  await compileOnce();
}

/**
 * Fills Node's compile cache, which stores the functions compiled by the first process that exits
 * cleanly. A short command would compile few of the functions that `serve` needs.
 */
async function compileOnce(): Promise<void> {
  await using cli = spawnCli(["serve", "--port", "0", "--warmup", "0", "--drain", "0"]);
  await cli.said("stdout", "\n");
  const url = /http:\/\/[\d.]+:\d+/.exec(cli.stdout())?.[0] ?? "";
  await (await fetch(`${url}/api/v1/snapshot`)).text();
  cli.child.kill("SIGTERM");
  await cli.ended();
}
