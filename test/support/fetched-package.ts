import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const CACHE = fileURLToPath(new URL("../../node_modules/.cache/", import.meta.url));
const INSTALL_MS = 300_000;

/**
 * The folder of an npm package that the project does not depend on. npm fetches it when a test
 * first wants it, without its scripts, into the cache below node_modules. `undefined` where npm
 * cannot; throws instead if the environment says CI=true.
 */
export function fetchedPackage(name: string, version: string): string | undefined {
  const cache = join(CACHE, `${name.replace("/", "-")}-${version}`);
  const folder = join(cache, "node_modules", name);
  if (existsSync(folder)) return folder;
  // Test files that run side by side each fetch their own, and the first one keeps it.
  const own = `${cache}-${process.pid}`;
  try {
    mkdirSync(own, { recursive: true });
    const flags = ["--no-save", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", own];
    const options = { stdio: "pipe", timeout: INSTALL_MS, cwd: own } as const;
    execFileSync("npm", ["install", ...flags, `${name}@${version}`], options);
    if (!existsSync(folder)) renameSync(own, cache);
  } catch (error) {
    if (!existsSync(folder) && process.env.CI === "true") throw error;
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
  return existsSync(folder) ? folder : undefined;
}

/**
 * The folder with the `node` program of this version, to be put in front of a PATH; as
 * {@link fetchedPackage}.
 */
export function fetchedNode(version: string): string | undefined {
  const { platform, arch } = process;
  const prefix = platform === "darwin" && arch === "arm64" ? "node-bin" : "node";
  const folder = fetchedPackage(`${prefix}-${platform}-${arch}`, version);
  return folder && join(folder, "bin");
}
