import { execFile } from "node:child_process";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { copyOfDependencies, copyOfSources } from "./copy-of-sources.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const run = promisify(execFile);

/** The package as `npm pack` makes it, and a user's project that has installed it. */
export interface InstalledPackage extends AsyncDisposable {
  readonly tarball: string;
  /** Paths of its files. */
  readonly files: readonly string[];
  /** The user's project. */
  readonly folder: string;
}

/** Packs the sources as they are now, and installs the result in an empty project. */
export async function installPackage(env: NodeJS.ProcessEnv): Promise<InstalledPackage> {
  const folder = await mkdtemp(join(tmpdir(), "flarewire-pack-"));
  const clone = await copyOfSources(folder);
  await symlink(join(ROOT, "node_modules"), join(clone, "node_modules"));
  const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", folder], { cwd: clone });
  const [packed]: { filename: string; files: { path: string }[] }[] = JSON.parse(
    stdout.slice(stdout.search(/^\[/m)),
  );
  if (!packed) throw new Error("npm packed nothing");
  copyOfDependencies(folder);
  await writeFile(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
  const flags = ["--no-audit", "--no-fund", "--prefer-offline"];
  await run("npm", ["install", ...flags, `./${packed.filename}`], { cwd: folder, env });
  return {
    tarball: join(folder, packed.filename),
    files: packed.files.map(({ path }) => path),
    folder,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}
