import { execFile } from "node:child_process";
import { cpSync, existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { newDirectory } from "../support/servers/edges.ts";
import { importedBy, sources } from "../tools/borders/measure.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const run = promisify(execFile);

/** What belongs to one feature. */
export interface Feature {
  /** Its folders and files, relative to src. */
  readonly paths: readonly string[];
  /** The lines that register it, by file. */
  readonly lines: Readonly<Record<string, RegExp>>;
}

const isIn = (path: string, file: string) => file === path || file.startsWith(`${path}/`);

/** Returns the text of a file of src without the lines of these features. */
function textWithout(file: string, features: readonly Feature[]): string {
  return features.reduce((text, { lines }) => text.replace(lines[file] ?? "", ""), textOf(file));
}

function textOf(file: string): string {
  return readFileSync(join(ROOT, "src", file), "utf8");
}

/** Returns the imports that break when this feature is removed: `file -> imported file`. */
export function danglingWithout(feature: Feature): readonly string[] {
  for (const path of feature.paths)
    if (!existsSync(join(ROOT, "src", path))) throw new Error(`src has no ${path}`);
  for (const [file, pattern] of Object.entries(feature.lines))
    if (textWithout(file, [feature]) === textOf(file))
      throw new Error(`no line of ${file} matches ${pattern}`);
  const isRemoved = (file: string) => feature.paths.some((path) => isIn(path, file));
  return sources()
    .filter((file) => !isRemoved(file))
    .flatMap((file) =>
      importedBy(file, textWithout(file, [feature]))
        .filter(isRemoved)
        .map((target) => `${file} -> ${target}`),
    );
}

/** A copy of src, in which features can be removed. */
export class SourceCopy {
  readonly #directory: string;

  constructor(onTestFinished: Parameters<typeof newDirectory>[0]) {
    this.#directory = newDirectory(onTestFinished);
    for (const name of ["package.json", "tsconfig.json"])
      cpSync(join(ROOT, name), join(this.#directory, name));
    symlinkSync(join(ROOT, "node_modules"), join(this.#directory, "node_modules"));
    cpSync(join(ROOT, "src"), this.#path("."), { recursive: true });
    // Each check after the first reads again only what depends on the removed files.
    const project = {
      extends: "./tsconfig.json",
      compilerOptions: { incremental: true, tsBuildInfoFile: "./build-info" },
      include: ["src"],
      exclude: ["src/clients/dashboard", "src/clients/widget"],
    };
    writeFileSync(join(this.#directory, "check.json"), JSON.stringify(project));
  }

  /** Adds a file, which remains. */
  add(file: string, text: string): void {
    writeFileSync(this.#path(file), text);
  }

  /** Returns the errors of the type check without these features, which are then restored. */
  async errorsWithout(features: readonly Feature[]): Promise<readonly string[]> {
    const paths = features.flatMap((feature) => feature.paths);
    const files = features.flatMap(({ lines }) => Object.keys(lines));
    for (const path of paths) rmSync(this.#path(path), { recursive: true, force: true });
    for (const file of new Set(files)) writeFileSync(this.#path(file), textWithout(file, features));
    const errors = await this.#check();
    for (const path of [...paths, ...files])
      cpSync(join(ROOT, "src", path), this.#path(path), { recursive: true });
    return errors;
  }

  async #check(): Promise<readonly string[]> {
    const args = ["-p", join(this.#directory, "check.json"), "--singleThreaded", "--pretty", "false"];
    const output = await run(join(ROOT, "node_modules/.bin/tsc"), args, { cwd: this.#directory }).then(
      () => "",
      (error: { readonly stdout: string }) => error.stdout,
    );
    return output.split("\n").filter((line) => line.includes("error TS"));
  }

  #path(path: string): string {
    return join(this.#directory, "src", path);
  }
}
