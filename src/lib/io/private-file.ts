import { closeSync, openSync } from "node:fs";

/** Permissions of files and directories that the program creates: only the owner has access. */
export const PRIVATE_FILE = 0o600;
export const PRIVATE_DIRECTORY = 0o700;

/**
 * Creates an empty private file unless it exists, for a library that would create a readable one.
 * SQLite gives the files beside a database its permissions. An existing file keeps its own, which
 * may be deliberate.
 */
export function makePrivateFile(path: string): void {
  closeSync(openSync(path, "a", PRIVATE_FILE));
}
