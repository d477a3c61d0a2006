import { readdirSync, rmdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { MANIFEST_FILE, PART_FILE, type RecordingManifest, readManifest } from "./manifest.ts";
import { writeManifest } from "./write-manifest.ts";

/** How a recording's directory is called: by the moment at which it began, and by a number where there was one already. */
const RECORDING_NAME = /^\d{4}-\d{2}-\d{2}T\d{6}\.\d{3}Z(-\d+)?$/;

/** The parts of a recording, the oldest first. */
interface Removable {
  /** Bytes on disk of the part that would go next; `undefined`: there is none to go. */
  readonly next: number | undefined;
  /** Removes it: first from the manifest, then from the disk, so that a manifest never names what is not there. */
  drop(): void;
}

/**
 * Removes whole parts, the oldest first, those of the other recordings in `root` before those of the one named `own`, until all of them have at most
 * `mostBytes`; what is left over is never less than what the own one cannot let go. Only one process records into `root`, so every other recording has
 * ended, also one whose name is later because the clock was set back since. Directories that are no recordings, or were given another name,
 * are left alone. May be killed anywhere: a part that no manifest names any more goes with the next call. Throws what the file system throws.
 */
export function makeRoom(
  root: string,
  own: { readonly name: string; readonly bytes: number; readonly parts: Removable },
  mostBytes: number,
): void {
  const ended = readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && RECORDING_NAME.test(entry.name) && entry.name !== own.name)
    .map(({ name }) => join(root, name))
    .toSorted()
    .flatMap((directory) => openEnded(directory));
  let bytes = own.bytes + ended.reduce((sum, recording) => sum + recording.bytes(), 0);
  for (const parts of [...ended, own.parts]) {
    for (let next = parts.next; next !== undefined && bytes > mostBytes; next = parts.next) {
      parts.drop();
      bytes -= next;
    }
  }
}

/** A recording whose process has ended, as a list of one; an empty list where there is none. */
function openEnded(directory: string): EndedRecording[] {
  const isThere = statSync(join(directory, MANIFEST_FILE), { throwIfNoEntry: false })?.isFile() ?? false;
  if (!isThere) return [];
  let manifest: RecordingManifest;
  try {
    manifest = readManifest(directory);
  } catch {
    // Somebody else's, or of a version that this program does not know.
    return [];
  }
  return [new EndedRecording(directory, manifest)];
}

/** A recording whose process has ended. */
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

  /** Removes parts that the manifest does not name, and a recording without any. */
  #tidy(): void {
    const named = new Set(this.#manifest.parts.map(({ file }) => file));
    for (const file of readdirSync(this.#directory))
      if (PART_FILE.test(file) && !named.has(file)) rmSync(join(this.#directory, file), { force: true });
    if (named.size > 0) return;
    for (const file of [`${MANIFEST_FILE}.new`, MANIFEST_FILE])
      rmSync(join(this.#directory, file), { force: true });
    // What somebody else put there stays.
    if (readdirSync(this.#directory).length === 0) rmdirSync(this.#directory);
  }
}
