import { closeSync, fsyncSync, openSync, renameSync, writeSync } from "node:fs";
import { join } from "node:path";
import { PRIVATE_FILE } from "../../lib/io/private-file.ts";
import { MANIFEST_FILE, type RecordingManifest } from "./manifest.ts";

/** Replaces the manifest atomically. Throws the file system's errors. */
export function writeManifest(directory: string, manifest: RecordingManifest): void {
  const path = join(directory, MANIFEST_FILE);
  const descriptor = openSync(`${path}.new`, "w", PRIVATE_FILE);
  try {
    const bytes = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`);
    for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(`${path}.new`, path);
}
