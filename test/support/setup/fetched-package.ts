import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const CACHE = fileURLToPath(new URL("../../../node_modules/.cache/", import.meta.url));
const INSTALL_MS = 300_000;
/** Folders that npm could not fill. This process does not try again. */
const unavailable = new Set<string>();

/**
 * Returns the folder of an npm package that is not a dependency of the project. On first use npm
 * installs it, without its scripts, into the cache below node_modules. If npm fails, it returns
 * `undefined`, or throws with CI=true. `peers`: packages such as `typescript@5`, beside it.
 */
export function fetchedPackage(
  name: string,
  version: string,
  peers: readonly string[] = [],
): string | undefined {
  const cache = join(CACHE, `${name.replace("/", "-")}-${version}`);
  const folder = join(cache, "node_modules", name);
  if (existsSync(folder)) return folder;
  if (unavailable.has(folder)) return undefined;
  // Test files run in parallel, so each installs its own copy; the first rename wins.
  const own = `${cache}-${process.pid}`;
  try {
    mkdirSync(own, { recursive: true });
    const flags = ["--no-save", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", own];
    const options = { stdio: "pipe", timeout: INSTALL_MS, cwd: own } as const;
    execFileSync("npm", ["install", ...flags, `${name}@${version}`, ...peers], options);
    if (!existsSync(folder)) renameSync(own, cache);
  } catch (error) {
    if (!existsSync(folder) && process.env.CI === "true") throw error;
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
  if (existsSync(folder)) return folder;
  unavailable.add(folder);
  return undefined;
}

/**
 * Returns the folder with the `node` program of this version, for a PATH. It is installed like
 * {@link fetchedPackage}.
 */
export function fetchedNode(version: string): string | undefined {
  const { platform, arch } = process;
  const prefix = platform === "darwin" && arch === "arm64" ? "node-bin" : "node";
  const folder = fetchedPackage(`${prefix}-${platform}-${arch}`, version);
  return folder && join(folder, "bin");
}
