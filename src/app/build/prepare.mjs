/*
 * npm runs this after each install in a clone. It is JavaScript, because without development
 * dependencies it runs on the machine's own Node, which may be too old to read TypeScript.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

const ROOT = new URL("../../../", import.meta.url);
const { engines } = JSON.parse(readFileSync(new URL("package.json", ROOT), "utf8"));

/** Parts of packages that nothing reads: source maps, TypeScript sources and CommonJS copies. */
const UNREAD = /\.map$|^(?:viem|ox)\/(?:_cjs$|(?!_)(?!.*\.d\.ts$).*\.ts$)/;

/** Deletes what nothing reads: a quarter of all that npm has unpacked. */
function tidy() {
  const packages = new URL("node_modules/", ROOT);
  if (!existsSync(packages)) return;
  // The package `node` links its program into `bin` and leaves 67 MB of headers here.
  rmSync(new URL("node/node_modules/", packages), { recursive: true, force: true });
  for (const path of readdirSync(packages, { recursive: true }))
    if (UNREAD.test(path.replaceAll("\\", "/")))
      rmSync(new URL(encodeURI(path), packages), { recursive: true, force: true });
  if (process.platform !== "linux") return;
  // Symbols for native debuggers are a fifth of the program. Without `strip` they stay.
  const node = fileURLToPath(new URL("node/bin/node", packages));
  if (spawnSync("strip", ["-o", `${node}.stripped`, node]).status === 0) renameSync(`${node}.stripped`, node);
}

function prepare() {
  tidy();
  if (!process.features.typescript) {
    process.stderr.write(
      `flarewire needs Node ${engines.node}, and this is ${process.version}: update Node, or run npm ci with development dependencies, which bring their own\n`,
    );
    return 1;
  }
  // Compiles the sources for the first start: see main.ts.
  spawnSync(process.execPath, ["src/main.ts", "serve", "--help"], { cwd: ROOT, stdio: "ignore" });
  try {
    import.meta.resolve("vite");
  } catch {
    process.stderr.write(
      "flarewire: the dashboard and the widget are not built, because vite, a development dependency, is missing; chains need viem, and clusters ioredis; all else works\n",
    );
    return 0;
  }
  return spawnSync("npm run --silent pages", { shell: true, stdio: "inherit" }).status ?? 1;
}

process.exitCode = prepare();
