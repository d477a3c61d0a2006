import { readdirSync, rmdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import {
  MANIFEST_FILE,
  PART_FILE,
  type RecordingManifest,
  readManifest,
  writeManifest,
} from "../recording/manifest.ts";

/** The name of a recording's directory: its start time, and a number if that name was taken. */
const RECORDING_NAME = /^\d{4}-\d{2}-\d{2}T\d{6}\.\d{3}Z(-\d+)?$/;

interface Removable {
  /** Bytes on disk of the oldest part; `undefined` if there is none that can be removed. */
  readonly next: number | undefined;
  /**
   * Removes the oldest part from the manifest, then from the disk: a manifest never names a missing
   * file.
   */
  drop(): void;
}

/**
 * Removes whole parts, oldest first and the parts of `own` last, until the recordings in `root`
 * have at most `maxBytes` in total.
 *
 * Only one process records into `root`, so every other recording has ended. In those, each call
 * also removes parts that the manifest does not name, left by a process that was killed in between,
 * and then recordings without parts. Other directories stay. Throws the file system's errors.
 */
export function makeRoom(
  root: string,
  own: { readonly name: string; readonly bytes: number; readonly parts: Removable },
  maxBytes: number,
): void {
  const ended = readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && RECORDING_NAME.test(entry.name) && entry.name !== own.name)
    .map(({ name }) => join(root, name))
    .toSorted()
    .flatMap((directory) => openEnded(directory));
  let bytes = own.bytes + ended.reduce((sum, recording) => sum + recording.bytes(), 0);
  for (const parts of [...ended, own.parts]) {
    for (let next = parts.next; next !== undefined && bytes > maxBytes; next = parts.next) {
      parts.drop();
      bytes -= next;
    }
  }
}

/** Returns the ended recording in a directory, as a list of at most one, and tidies it. */
function openEnded(directory: string): EndedRecording[] {
  const exists = statSync(join(directory, MANIFEST_FILE), { throwIfNoEntry: false })?.isFile() ?? false;
  if (!exists) return [];
  let manifest: RecordingManifest;
  try {
    manifest = readManifest(directory);
  } catch {
    // Not a recording, or one with a damaged manifest or an unknown version.
    return [];
  }
  return [new EndedRecording(directory, manifest)];
}

class EndedRecording implements Removable {
  readonly #directory: string;
  #manifest: RecordingManifest;

  constructor(directory: string, manifest: RecordingManifest) {
    this.#directory = directory;
    this.#manifest = manifest;
    this.#tidy();
  }

  bytes(): number {
    return this.#manifest.parts.reduce((sum, { file }) => sum + this.#sizeOf(file), 0);
  }

  get next(): number | undefined {
    const [first] = this.#manifest.parts;
    return first && this.#sizeOf(first.file);
  }

  drop(): void {
    const [first, ...parts] = this.#manifest.parts;
    if (!first) return;
    this.#manifest = { ...this.#manifest, parts };
    writeManifest(this.#directory, this.#manifest);
    rmSync(join(this.#directory, first.file), { force: true });
    this.#tidy();
  }

  #sizeOf(file: string): number {
    return statSync(join(this.#directory, file), { throwIfNoEntry: false })?.size ?? 0;
  }

  /** Removes parts that the manifest does not name, and a recording without parts. */
  #tidy(): void {
    const named = new Set(this.#manifest.parts.map(({ file }) => file));
    for (const file of readdirSync(this.#directory))
      if (PART_FILE.test(file) && !named.has(file)) rmSync(join(this.#directory, file), { force: true });
    if (named.size > 0) return;
    for (const file of [`${MANIFEST_FILE}.new`, MANIFEST_FILE])
      rmSync(join(this.#directory, file), { force: true });
    // Foreign files stay.
    if (readdirSync(this.#directory).length === 0) rmdirSync(this.#directory);
  }
}
