import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
} from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { aptGet } from "../../../support/setup/apt-get.ts";
import { ON_DEMAND } from "./compile.ts";

const PEERS = fileURLToPath(new URL("../peers/", import.meta.url));

/**
 * Returns the directory of the peers' npm packages. Installs them on first use, by their lock file
 * and without install scripts. Throws if the registry is not reachable.
 */
export function npmPeers(): string {
  const directory = join(ON_DEMAND, "npm");
  if (existsSync(join(directory, "node_modules", "socket.io"))) return directory;
  process.stderr.write("installing the peers' npm packages, once\n");
  mkdirSync(directory, { recursive: true });
  for (const file of ["package.json", "package-lock.json"]) cpSync(join(PEERS, file), join(directory, file));
  execFileSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], {
    cwd: directory,
    stdio: ["ignore", "ignore", "inherit"],
  });
  return directory;
}

/**
 * Returns the path of Bun's program. Its npm package has one per platform as an optional
 * dependency. Throws if there is none for this platform.
 */
export function bunProgram(): string {
  const installed = join(npmPeers(), "node_modules", "@oven");
  const [platform] = existsSync(installed) ? readdirSync(installed) : [];
  if (platform === undefined) throw new Error("the npm package bun has no program for this platform");
  return createRequire(`${installed}/`).resolve(join(installed, platform, "bin", "bun"));
}

/** A program of a Debian package, and its environment. */
export interface DebianProgram {
  readonly path: string;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Returns a program of a Debian package: the installed one or, on first use, one unpacked with its
 * libraries into its own directory, without root or a service. Throws if neither is possible.
 * `path` is its path in the package, such as `usr/bin/wrk`.
 */
export function debianProgram(name: string, path: string, libraries: readonly string[] = []): DebianProgram {
  if (existsSync(join("/", path))) return { path: join("/", path), env: process.env };
  const root = debianRoot([name, ...libraries], path);
  const unpacked = globSync(join(root, "usr/lib/*-linux-*/"));
  return { path: join(root, path), env: { ...process.env, LD_LIBRARY_PATH: unpacked.join(":") } };
}

/**
 * Returns such a program's path for a test that is skipped without it; `undefined` if it is not
 * available. If the environment has CI=true, throws instead.
 */
export function findProgram(name: string, path: string): string | undefined {
  try {
    return debianProgram(name, path).path;
  } catch (error) {
    if (process.env.CI === "true") throw error;
    return undefined;
  }
}

/**
 * Returns the directory that contains the packages as below `/`; `/` if the program is installed.
 */
export function debianRoot(packages: readonly string[], path: string): string {
  if (existsSync(join("/", path)) && packages.length === 1) return "/";
  const root = join(ON_DEMAND, "debian", packages.join("+"));
  if (existsSync(join(root, path))) return root;
  process.stderr.write(`unpacking Debian's ${packages.join(", ")}, once\n`);
  // Tests that run at the same time each unpack a copy, and the first copy remains.
  mkdirSync(dirname(root), { recursive: true });
  const own = mkdtempSync(`${root}-`);
  const download = join(own, "download");
  mkdirSync(download);
  // A new machine has no package lists.
  if (process.getuid?.() === 0) aptGet(["update", "-q"]);
  aptGet(["download", ...packages], { cwd: download });
  for (const file of readdirSync(download)) execFileSync("dpkg-deb", ["-x", join(download, file), own]);
  rmSync(download, { recursive: true });
  try {
    renameSync(own, root);
  } catch (error) {
    rmSync(own, { recursive: true });
    if (!existsSync(join(root, path))) throw error;
  }
  return root;
}
