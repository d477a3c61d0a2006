import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { spawnCommand } from "../../app/cli/spawn-cli.ts";
import { blocksOf, readDocument } from "../../repository/documents.ts";

/** The root of the clone. */
export const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
/** What a reader's shell runs as `flarewire`. */
export const PROGRAM = process.env.BUNDLED_PROGRAM ?? join(ROOT, "src/main.ts");

interface TutorialOptions {
  /** Where its files are saved and its commands run. */
  readonly folder: string;
  /** Replaces the addresses and paths in its code and commands by the test's. */
  readonly localize: (code: string) => string;
  /** Lines of bash for each command of a reader that the test replaces, by its name. */
  readonly commands?: Readonly<Record<string, string>>;
  /** Commands that run until the reader presses Ctrl-C. */
  readonly following: RegExp;
  /** Called with each shown line before it is expected; with the first before its command runs. */
  readonly before?: (line: string) => void;
  readonly environment?: Readonly<Record<string, string>>;
}

/** A folder in the clone, where programs find the package, with the clone's examples. */
export function readersFolder(finish: (end: () => void) => void): string {
  mkdirSync(join(ROOT, ".on-demand"), { recursive: true });
  const folder = mkdtempSync(join(ROOT, ".on-demand/tutorial-"));
  finish(() => rmSync(folder, { recursive: true, force: true }));
  symlinkSync(join(ROOT, "examples"), join(folder, "examples"));
  return folder;
}

/**
 * Does what a reader of the document does, in order: saves each block of code that has a file name,
 * and runs each block of bash. Fails if a command fails, or prints other lines than the block of
 * text below it, apart from numbers, and from what `…` omits.
 */
export async function runTutorial(file: string, options: TutorialOptions): Promise<void> {
  const { folder, localize, following, before = () => {}, commands = {}, environment = {} } = options;
  const programs = mkdtempSync(join(folder, "bin-"));
  for (const [name, script] of Object.entries(commands))
    writeFileSync(join(programs, name), `#!/bin/bash\n${script}\n`, { mode: 0o755 });
  const path = [programs, dirname(process.execPath), process.env.PATH].join(delimiter);
  const blocks = blocksOf(readDocument(file));
  for (const [at, { language, name, code }] of blocks.entries()) {
    if (name !== "") writeFileSync(join(folder, name), localize(code));
    if (language !== "bash") continue;
    const next = blocks[at + 1];
    const shown = next?.language === "text" ? localize(next.code).trimEnd().split("\n") : [];
    before(shown[0] ?? "");
    await using shell = spawnCommand(
      "bash",
      ["-c", `exec 2>&1; set -eo pipefail\n${localize(code)}`],
      { NODE_OPTIONS: "--conditions=flarewire-source", ...environment, PATH: path },
      { cwd: folder, detached: true },
    );
    for (const [index, line] of shown.entries()) {
      if (index > 0) before(line);
      await shell.said(
        "stdout",
        new RegExp(
          `^${shown
            .slice(0, index + 1)
            .map(shapeOf)
            .join("\n")}`,
          "m",
        ),
      );
    }
    // Ctrl-C reaches every process of the command.
    const { pid = 0 } = shell.child;
    const isFollowing = following.test(code);
    if (isFollowing) process.kill(-pid, "SIGINT");
    const status = await shell.ended();
    if (status !== 0 && !isFollowing)
      throw new Error(`${file}: ${code} exited with ${status}: ${shell.stdout()}`);
  }
}

/** Returns the pattern of lines that differ from the shown one in numbers and omissions only. */
function shapeOf(shown: string): string {
  const parts = shown.trimEnd().split("…");
  const patterns = parts.map((part) =>
    part
      .replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")
      .replace(/\b[\da-f]{8}\b|(?:\\\+|[−-])?\d+(?:\\\.\d+)?/g, (number) =>
        /^[\da-f]{8}$/.test(number) ? "[\\da-f]{8}" : "[+−-]?[\\d.]+",
      )
      .replace(/ +/g, " +"),
  );
  return `${patterns.join(".*")}.*`;
}
