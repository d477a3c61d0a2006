import { closeSync, existsSync, openSync } from "node:fs";

/** Permissions of files and directories that the program creates: only the owner has access. */
export const PRIVATE_FILE = 0o600;
export const PRIVATE_DIRECTORY = 0o700;

/**
 * Creates a missing file as private. Libraries would not; SQLite's other files copy its mode. An
 * existing file stays closed, because closing it would release this process's POSIX locks on it.
 */
export function makePrivateFile(path: string): void {
  if (!existsSync(path)) closeSync(openSync(path, "a", PRIVATE_FILE));
}
