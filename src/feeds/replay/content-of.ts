import { createHash } from "node:crypto";
import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { MANIFEST_FILE } from "../recording/manifest.ts";

/** How much of a file's start identifies it, together with its size. */
const IDENTIFYING_BYTES = 65_536;

/**
 * Identifies a file by its content, so that a copy on another machine counts as the same. A
 * recording's directory is identified by its manifest, which changes with every part.
 */
export function contentOf(path: string): string {
  const isDirectory = statSync(path, { throwIfNoEntry: false })?.isDirectory();
  let file: number | undefined;
  try {
    file = openSync(isDirectory ? join(path, MANIFEST_FILE) : path, "r");
    const start = Buffer.alloc(IDENTIFYING_BYTES);
    const length = readSync(file, start);
    const hash = createHash("sha256").update(start.subarray(0, length)).digest("base64url");
    return `${fstatSync(file).size} ${hash}`;
  } catch {
    // The feed reports a file that it cannot read.
    return "";
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
