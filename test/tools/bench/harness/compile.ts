import { execFileSync } from "node:child_process";
import { mkdirSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Directory of programs and packages that only a bench needs. Ignored by git. */
export const ON_DEMAND = fileURLToPath(new URL("../.on-demand/", import.meta.url));

/**
 * Compiles a C file with the machine's `cc`, unless it is compiled already. Returns the program's
 * path. Throws with the compiler's output, or if there is no compiler.
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
