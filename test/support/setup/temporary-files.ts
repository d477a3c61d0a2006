import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Lets all tests, and the programs that they start, create temporary files in one directory, which
 * is removed when the run ends. The exit handlers of a terminated worker do not run.
 */
export function setup(): void {
  const directory = mkdtempSync(join(tmpdir(), "flarewire-"));
  process.env.TMPDIR = directory;
  process.once("exit", () => rmSync(directory, { recursive: true, force: true }));
}
