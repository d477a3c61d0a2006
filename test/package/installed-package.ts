import { execFile } from "node:child_process";
import { chmod, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { PACKED_INSIDE } from "../../src/app/build/bundle.ts";
import { IS_SOAK } from "../support/law-runs.ts";
import { copyOfDependencies, copyOfSources } from "./copy-of-sources.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** The packages for programs that need only the client. */
export const CLIENT_PACKAGES = ["client", "react"] as const;
const run = promisify(execFile);

/** The packages that were built from the sources, installed in projects as a user's. */
export interface InstalledPackages extends AsyncDisposable {
  /** Path of the packed `flarewire`. */
  readonly packed: string;
  /** Paths of the files in it. */
  readonly files: readonly string[];
  /** Path of the project that has the package `flarewire`. */
  readonly folder: string;
  /** Path of the project that has the client packages. */
  readonly clientProject: string;
}

/** Builds and packs the working tree, and installs the packages in empty projects. */
export async function installPackages(env: NodeJS.ProcessEnv): Promise<InstalledPackages> {
  const folder = await mkdtemp(join(tmpdir(), "flarewire-pack-"));
  const clone = copyOfSources(folder);
  await symlink(join(ROOT, "node_modules"), join(clone, "node_modules"));
  await buildPackages(clone);
  // The scripts of the package would build again.
  const packing = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder];
  const folders = CLIENT_PACKAGES.map((name) => join(clone, "dist/packages", name));
  const { stdout } = await run("npm", [...packing, ".", ...folders], { cwd: clone });
  const packed: { filename: string; files: { path: string }[] }[] = JSON.parse(stdout);
  const [whole = "", ...ofClient] = packed.map(({ filename }) => join(folder, filename));
  copyOfDependencies(folder, PACKED_INSIDE);
  await writeProject(folder);
  if (IS_SOAK) await install(folder, whole, env);
  else await unpack(folder, whole);
  const clientProject = join(folder, "client-project");
  await mkdir(clientProject);
  await writeProject(clientProject);
  if (IS_SOAK) await installOffline(clientProject, ofClient);
  else for (const file of ofClient) await unpack(clientProject, file);
  await cp(join(ROOT, "node_modules/react"), join(clientProject, "node_modules/react"), { recursive: true });
  return {
    ...{ packed: whole, folder, clientProject },
    files: packed[0]?.files.map(({ path }) => path) ?? [],
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

async function install(folder: string, packed: string, env: NodeJS.ProcessEnv): Promise<void> {
  const flags = ["--no-audit", "--no-fund", "--prefer-offline"];
  await run("npm", ["install", ...flags, packed], { cwd: folder, env });
  // The copy nests a package if a development dependency requires another version of it.
  await run("npm", ["dedupe", ...flags], { cwd: folder, env });
}

/** Installs without fetching anything. React is copied from the clone later. */
async function installOffline(folder: string, packed: readonly string[]): Promise<void> {
  const flags = ["--offline", "--legacy-peer-deps", "--no-audit", "--no-fund"];
  await run("npm", ["install", ...flags, ...packed], { cwd: folder });
  const lock = JSON.parse(await readFile(join(folder, "package-lock.json"), "utf8"));
  const installed = Object.keys(lock.packages).filter((path) => path !== "");
  const expected = CLIENT_PACKAGES.map((name) => `node_modules/@flarewire/${name}`);
  if (installed.join() !== expected.join()) throw new Error(`npm installed ${installed}`);
}

/** Installs a package whose dependencies are present, in a tenth of the CPU time of npm. */
async function unpack(folder: string, packed: string): Promise<void> {
  const { stdout } = await run("tar", ["-xOf", packed, "package/package.json"]);
  const { name, bin = {} }: { name: string; bin?: Record<string, string> } = JSON.parse(stdout);
  const target = join(folder, "node_modules", name);
  await mkdir(target, { recursive: true });
  await run("tar", ["-xf", packed, "--strip-components=1", "-C", target]);
  for (const [command, file] of Object.entries(bin)) {
    await chmod(join(target, file), 0o755);
    await symlink(join("..", name, file), join(folder, "node_modules/.bin", command));
  }
}

/**
 * Runs the commands of `npm run packages` but for the packing, and copies the pages that the tests
 * have built.
 */
async function buildPackages(clone: string): Promise<void> {
  const { scripts } = JSON.parse(await readFile(join(clone, "package.json"), "utf8"));
  const { pages, build, prepack, packages } = scripts;
  const built = ["dashboard", "widget"];
  if (pages !== built.map((page) => `vite build src/clients/${page}`).join(" && "))
    throw new Error("package.json builds the pages differently; adapt buildPackages");
  const copied = built.map((page) => `cp -R ${join(ROOT, "dist", page)} dist`).join(" && ");
  // Each npm takes a third of a second.
  const script = packages
    .replace("npm pack --silent", () => prepack)
    .replace("npm run --silent build", () => build)
    .replace("npm run --silent pages", () => copied)
    .replace(/ && npm pack --silent( .\/dist\/packages\/\w+)+$/, "");
  if (/\bnpm /.test(script)) throw new Error(`unknown npm script in "${script}"; adapt buildPackages`);
  const PATH = [join(ROOT, "node_modules/.bin"), process.env.PATH].join(delimiter);
  await run("sh", ["-c", script], { cwd: clone, env: { ...process.env, PATH } });
}

function writeProject(folder: string): Promise<void> {
  return writeFile(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
}
