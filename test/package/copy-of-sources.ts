import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { fetchedNode } from "../support/setup/fetched-package.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/**
 * Copies the working tree, without node_modules and without the tests, except those that a build
 * needs. Returns the path of the copy, in `folder`.
 */
export function copyOfSources(folder: string): string {
  const clone = join(folder, "clone");
  mkdirSync(clone);
  const list = ["ls-files", "-co", "--exclude-standard", "-z"];
  const files = execFileSync("git", list, { cwd: ROOT, encoding: "utf8" }).split("\0");
  copyTo(
    clone,
    files.filter((file) => /^(?!test\/(?!examples\/))./.test(file)),
  );
  return clone;
}

/**
 * Copies the packages that the lock file installs without development dependencies, except those
 * named. npm then only checks them, and does not fetch and unpack them.
 */
export function copyOfDependencies(folder: string, except: readonly string[] = []): void {
  const { packages } = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8"));
  type Entry = { readonly dev?: boolean; readonly devOptional?: boolean; readonly bin?: object };
  const needed = Object.entries<Entry>(packages).filter(
    ([path, entry]) =>
      /^(?!.*\/node_modules\/)./.test(path) &&
      !(entry.dev || entry.devOptional || except.includes(path.slice("node_modules/".length))),
  );
  copyTo(
    folder,
    // Without the links to its programs, npm unpacks a package again.
    needed.flatMap(([path, { bin = {} }]) => [
      path,
      ...Object.keys(bin).map((name) => `node_modules/.bin/${name}`),
    ]),
  );
  // Moves nested packages up, as npm does if no development dependency needs another version.
  const paths = new Set(needed.map(([path]) => path));
  for (const [path, { dev, devOptional }] of Object.entries<Entry>(packages)) {
    const highest = `node_modules/${path.split("node_modules/").at(-1)}`;
    if (path === "" || dev || devOptional || paths.has(highest)) continue;
    const [from, to] = [join(folder, path), join(folder, highest)];
    if (existsSync(to)) rmSync(from, { recursive: true, force: true });
    else if (existsSync(from)) renameSync(from, to);
  }
}

/** Copies files and folders of the clone. Copying each file in Node takes twice the CPU time. */
function copyTo(folder: string, paths: readonly string[]): void {
  const input = paths.filter((path) => existsSync(join(ROOT, path))).join("\0");
  const script = 'tar --null -T - -cf - | tar -xf - -C "$0"';
  execFileSync("sh", ["-c", script, folder], { cwd: ROOT, input });
}

/** The lowest version of Node that package.json supports. */
export const LOWEST_NODE = `${JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")).engines.node.slice(2)}.0`;

/**
 * Returns the environment of a user who has this version of Node and no clone. Returns `undefined`
 * if npm cannot fetch that version; with CI=true in the environment, that is an error.
 */
export function environmentOfNode(version: string): NodeJS.ProcessEnv | undefined {
  const bin = fetchedNode(version);
  // The cache finds compiled code by its path, which differs in each run.
  const { NODE_OPTIONS: _ofClones, NODE_COMPILE_CACHE: _ofTests, PATH = "", ...others } = process.env;
  const own = PATH.split(delimiter).filter((path) => !path.includes("node_modules"));
  return bin === undefined ? undefined : { ...others, PATH: [bin, ...own].join(delimiter) };
}
