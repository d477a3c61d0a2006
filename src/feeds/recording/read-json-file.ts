import { readFileSync, statSync } from "node:fs";
import { InputError } from "../../base/lib/input-error.ts";
import { messageOf } from "../../base/lib/text/message-of.ts";

/** Reads a JSON file of limited size. Throws InputError, in which the file is called `what`. */
export function readJsonFile(path: string, what: string, maxBytes: number): unknown {
  try {
    const stat = statSync(path);
    // Opening a pipe without a writer would block the process.
    if (!stat.isFile()) throw new InputError(path, `the ${what} must be a regular file`);
    if (stat.size > maxBytes)
      throw new InputError(path, `the ${what} has ${stat.size} bytes (maximum ${maxBytes})`);
    return JSON.parse(readFileSync(path, "utf8").replace(/^\uFEFF/, ""));
  } catch (error) {
    if (error instanceof InputError) throw error;
    const problem = error instanceof SyntaxError ? `the ${what} is not JSON` : `cannot read the ${what}`;
    throw new InputError(path, `${problem}: ${messageOf(error)}`, { cause: error });
  }
}
