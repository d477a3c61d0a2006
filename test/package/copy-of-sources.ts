import { execFile } from "node:child_process";
import { cpSync, existsSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { fetchedNode } from "../support/fetched-package.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/**
 * The files of a clone as they are now, without node_modules. Returns their folder, below `folder`.
 */
export async function copyOfSources(folder: string): Promise<string> {
  const clone = join(folder, "clone");
  const list = ["ls-files", "-co", "--exclude-standard", "-z"];
  const { stdout } = await promisify(execFile)("git", list, { cwd: ROOT });
  for (const file of stdout.split("\0")) {
    if (file !== "" && existsSync(join(ROOT, file))) cpSync(join(ROOT, file), join(clone, file));
  }
  return clone;
}

/**
 * Copies what the lock file installs without development dependencies, as a user's project that has
 * them already. npm then checks them, and need not fetch and unpack them again.
 */
export function copyOfDependencies(folder: string): void {
  const { packages } = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8"));
  for (const [path, entry] of Object.entries<{ dev?: boolean; devOptional?: boolean }>(packages)) {
    if (path === "" || entry.dev || entry.devOptional || !existsSync(join(ROOT, path))) continue;
    cpSync(join(ROOT, path), join(folder, path), { recursive: true });
  }
}

/** The lowest version of Node that package.json promises to run on. */
export const LOWEST_NODE = `${JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")).engines.node.slice(2)}.0`;

/**
 * The surroundings of a user who has this version of Node and nothing of a clone's; `undefined`
 * where npm cannot fetch that version, which is an error if the environment says CI=true.
 */
export function environmentOfNode(version: string): NodeJS.ProcessEnv | undefined {
  const bin = fetchedNode(version);
  // Compiled code is found by its path, which is new in each run.
  const { NODE_OPTIONS: _ofClones, NODE_COMPILE_CACHE: _ofTests, PATH = "", ...others } = process.env;
  const own = PATH.split(delimiter).filter((path) => !path.includes("node_modules"));
  return bin === undefined ? undefined : { ...others, PATH: [bin, ...own].join(delimiter) };
}
