import { execFile } from "node:child_process";
import { cpSync, existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { newDirectory } from "../support/servers/edges.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const run = promisify(execFile);

/** What belongs to one feature. */
export interface Feature {
  /** Its folders and files, relative to src. */
  readonly paths: readonly string[];
  /** The lines that register it, by file. */
  readonly lines: Readonly<Record<string, RegExp>>;
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

  /** Returns the errors of the type check without this feature, which is then restored. */
  async errorsWithout({ paths, lines }: Feature): Promise<readonly string[]> {
    for (const path of paths) {
      if (!existsSync(this.#path(path))) throw new Error(`src has no ${path}`);
      rmSync(this.#path(path), { recursive: true });
    }
    for (const [file, pattern] of Object.entries(lines)) {
      const text = readFileSync(this.#path(file), "utf8");
      const rest = text.replace(pattern, "");
      if (rest === text) throw new Error(`no line of ${file} matches ${pattern}`);
      writeFileSync(this.#path(file), rest);
    }
    const errors = await this.#check();
    for (const path of [...paths, ...Object.keys(lines)])
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
