import { closeSync, openSync } from "node:fs";

/** Permissions of what the program makes: nobody but its owner reads or writes it. */
export const PRIVATE_FILE = 0o600;
export const PRIVATE_DIRECTORY = 0o700;

/**
 * Makes an empty private file where there is none, for a library that would make one that everybody may read. SQLite gives the files
 * beside a database the database's permissions. A file that is there keeps its own, which its owner may have chosen.
 */
export function makePrivateFile(path: string): void {
  closeSync(openSync(path, "a", PRIVATE_FILE));
}
