/*
 * npm runs this after each install in a clone. It is JavaScript, because without development
 * dependencies it runs on the machine's own Node, which may be too old to read TypeScript.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";

const ROOT = new URL("../../../", import.meta.url);
const { engines } = JSON.parse(readFileSync(new URL("package.json", ROOT), "utf8"));

function prepare() {
  // The package `node` links its program into `bin` and leaves 67 MB of headers here.
  rmSync(new URL("node_modules/node/node_modules/", ROOT), { recursive: true, force: true });
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
      "flarewire: the dashboard and the widget are not built, because vite, a development dependency, is missing; chains need ox, and clusters ioredis; all else works\n",
    );
    return 0;
  }
  return spawnSync("npm run --silent pages", { shell: true, stdio: "inherit" }).status ?? 1;
}

process.exitCode = prepare();
