import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { copyOfDependencies, copyOfSources } from "./copy-of-sources.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** The packages for programs that need the client only. */
export const CLIENT_PACKAGES = ["client", "react"] as const;
const run = promisify(execFile);

/** The packages as built from the sources, and projects of users that have installed them. */
export interface InstalledPackages extends AsyncDisposable {
  /** Paths of the files of the package that `npm pack` makes. */
  readonly files: readonly string[];
  /** The project with that package. */
  readonly folder: string;
  /** The project with those of the client. */
  readonly clientProject: string;
}

/** Builds and packs the sources as they are now, and installs the results in empty projects. */
export async function installPackages(env: NodeJS.ProcessEnv): Promise<InstalledPackages> {
  const folder = await mkdtemp(join(tmpdir(), "flarewire-pack-"));
  const clone = await copyOfSources(folder);
  await symlink(join(ROOT, "node_modules"), join(clone, "node_modules"));
  const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", folder], { cwd: clone });
  const [packed]: { filename: string; files: { path: string }[] }[] = JSON.parse(
    stdout.slice(stdout.search(/^\[/m)),
  );
  if (!packed) throw new Error("npm packed nothing");
  const clientProject = await installClientPackages(clone, join(folder, "client-project"));
  copyOfDependencies(folder);
  await writeProject(folder);
  const flags = ["--no-audit", "--no-fund", "--prefer-offline"];
  await run("npm", ["install", ...flags, `./${packed.filename}`], { cwd: folder, env });
  // The copy nests what only development dependencies have in another version.
  await run("npm", ["dedupe", ...flags], { cwd: folder, env });
  return {
    ...{ folder, clientProject },
    files: packed.files.map(({ path }) => path),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Does what `npm run packages` does after the build that `clone` has. Returns `project`. */
async function installClientPackages(clone: string, project: string): Promise<string> {
  const { scripts } = JSON.parse(await readFile(join(clone, "package.json"), "utf8"));
  const [build, write = ""] = scripts.packages.split(" && ");
  if (build !== "npm run --silent build") throw new Error(`the client packages need another build: ${build}`);
  await run("npm", ["exec", "-c", write], { cwd: clone });
  await mkdir(project);
  await writeProject(project);
  const folders = CLIENT_PACKAGES.map((name) => join(clone, "dist/packages", name));
  await run("npm", ["pack", "--pack-destination", project, ...folders], { cwd: clone });
  const files = CLIENT_PACKAGES.map((name) => `./flarewire-${name}-0.1.0.tgz`);
  // React comes from the clone: nothing is fetched.
  const flags = ["--offline", "--legacy-peer-deps", "--no-audit", "--no-fund"];
  await run("npm", ["install", ...flags, ...files], { cwd: project });
  await cp(join(ROOT, "node_modules/react"), join(project, "node_modules/react"), { recursive: true });
  return project;
}

function writeProject(folder: string): Promise<void> {
  return writeFile(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
}
