import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build, type Plugin } from "vite";
import { spawnCli } from "../cli/spawn-cli.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const SOURCES = join(ROOT, "src/");
const BUNDLE = join(ROOT, "node_modules/.cache/program");

/**
 * Modules in the bundle look for files where their sources would, but for the other entry.
 *
 * A module that imports `node:http` loads the implementation of `fetch` too, a quarter of a short
 * program's CPU time: one that gets it otherwise does not.
 */
const asSources: Plugin = {
  name: "as-sources",
  transform: (code, id) =>
    id.startsWith(SOURCES) && !id.endsWith("/start-workers.ts")
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
 * Before the tests that start the program a hundred times: bundles its sources as they are now with
 * what they import. A start then takes a third of its CPU time.
 */
export async function setup(): Promise<void> {
  mkdirSync(BUNDLE, { recursive: true });
  // Else each start first tries whether it is CommonJS.
  writeFileSync(join(BUNDLE, "package.json"), '{"type":"module"}');
  await build({
    ...{ root: ROOT, configFile: false, logLevel: "error", plugins: [asSources] },
    ssr: { noExternal: true },
    build: {
      ...{ ssr: true, outDir: BUNDLE, emptyOutDir: false, minify: false, target: "esnext" },
      rolldownOptions: {
        input: ["main.ts", "gateway/worker.ts"].map((entry) => join(SOURCES, entry)),
        output: { chunkFileNames: "[name].js" },
      },
    },
  });
  process.env.BUNDLED_PROGRAM = join(BUNDLE, "main.js");
  await compileOnce();
}

/**
 * Node caches the functions that the first process to end in order has compiled. That of a short
 * command would have few of those that `serve` needs.
 */
async function compileOnce(): Promise<void> {
  await using cli = spawnCli(["serve", "--port", "0", "--warmup", "0", "--drain", "0"]);
  await cli.said("stdout", "\n");
  const url = /http:\/\/[\d.]+:\d+/.exec(cli.stdout())?.[0] ?? "";
  await (await fetch(`${url}/api/v1/snapshot`)).text();
  cli.child.kill("SIGTERM");
  await cli.ended();
}
