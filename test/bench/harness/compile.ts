import { execFileSync } from "node:child_process";
import { mkdirSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Where programs and packages are kept that a bench needs and the project does not; ignored by git.
 */
export const ON_DEMAND = fileURLToPath(new URL("../.on-demand/", import.meta.url));

/**
 * Compiles a C file with the machine's `cc` where that is not done yet; the program's path. Throws
 * with the compiler's words, or when there is none.
 */
export function compile(source: URL): string {
  const file = fileURLToPath(source);
  const program = join(ON_DEMAND, "bin", basename(file, ".c"));
  mkdirSync(join(ON_DEMAND, "bin"), { recursive: true });
  const made = statSync(program, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (made > statSync(file).mtimeMs) return program;
  try {
    execFileSync("cc", ["-O2", "-Wall", "-o", program, file], { stdio: ["ignore", "ignore", "pipe"] });
  } catch (cause) {
    throw new Error(`cannot compile ${basename(file)}; it needs a C compiler named cc`, { cause });
  }
  return program;
}
