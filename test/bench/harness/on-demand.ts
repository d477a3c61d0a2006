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
import { aptGet } from "../../support/apt-get.ts";
import { ON_DEMAND } from "./compile.ts";

const PEERS = fileURLToPath(new URL("../peers/", import.meta.url));

/**
 * Where the peers' npm packages are, installed on first use as their lock file says and without
 * their install scripts. Throws when the registry is out of reach.
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
 * Bun's program, which its npm package brings for each platform as an optional dependency. Throws
 * when there is none for this one.
 */
export function bunProgram(): string {
  const installed = join(npmPeers(), "node_modules", "@oven");
  const [platform] = existsSync(installed) ? readdirSync(installed) : [];
  if (platform === undefined) throw new Error("the npm package bun has no program for this platform");
  return createRequire(`${installed}/`).resolve(join(installed, platform, "bin", "bun"));
}

/** A program of a Debian package, and what it needs in its environment. */
export interface DebianProgram {
  readonly path: string;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * A program out of a Debian package, installed or, on first use, unpacked with the libraries that
 * it needs into a folder of its own: no root, no service. Throws where there is neither. `path` is
 * its place in the package, such as `usr/bin/wrk`.
 */
export function debianProgram(name: string, path: string, libraries: readonly string[] = []): DebianProgram {
  if (existsSync(join("/", path))) return { path: join("/", path), env: process.env };
  const root = debianRoot([name, ...libraries], path);
  const unpacked = globSync(join(root, "usr/lib/*-linux-*/"));
  return { path: join(root, path), env: { ...process.env, LD_LIBRARY_PATH: unpacked.join(":") } };
}

/**
 * The path of such a program for a test that is skipped without it: `undefined` where it cannot be
 * had; throws instead if the environment says CI=true.
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
 * The folder in which the packages lie as they would below `/`; `/` where the program is installed.
 */
export function debianRoot(packages: readonly string[], path: string): string {
  if (existsSync(join("/", path)) && packages.length === 1) return "/";
  const root = join(ON_DEMAND, "debian", packages.join("+"));
  if (existsSync(join(root, path))) return root;
  process.stderr.write(`unpacking Debian's ${packages.join(", ")}, once\n`);
  // Tests that run side by side each unpack their own, and the first one stays.
  mkdirSync(dirname(root), { recursive: true });
  const own = mkdtempSync(`${root}-`);
  const download = join(own, "download");
  mkdirSync(download);
  // A fresh machine has no lists of packages.
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
