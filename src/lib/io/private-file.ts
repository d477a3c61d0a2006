import { closeSync, openSync } from "node:fs";

/** Permissions of files and directories that the program creates: only the owner has access. */
export const PRIVATE_FILE = 0o600;
export const PRIVATE_DIRECTORY = 0o700;

/** Creates a missing file as private. Libraries would not; SQLite's other files copy its mode. */
export function makePrivateFile(path: string): void {
  closeSync(openSync(path, "a", PRIVATE_FILE));
}
