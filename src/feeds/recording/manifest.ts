import { closeSync, existsSync, fsyncSync, openSync, renameSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { InputError } from "../../base/lib/input-error.ts";
import { PRIVATE_FILE } from "../../base/lib/io/private-file.ts";
import { firstIssue } from "../../base/lib/text/first-issue.ts";
import { EventTimeMs, FeedFacts, Origin } from "../../base/market/index.ts";
import { readJsonFile } from "./read-json-file.ts";

/** Name of the file in a recording's directory that describes the recording and lists its parts. */
export const MANIFEST_FILE = "manifest.json";

/** Enough for ten years of one-hour parts. */
const MAX_MANIFEST_BYTES = 64 * 1024 * 1024;

/** A gzip member's header and trailer (RFC 1952). */
const MIN_MEMBER_BYTES = 18;

/** Names of the files of a recording's parts. */
export const PART_FILE: RegExp = /^part-\d{5,9}\.ndjson\.gz$/;

/** One file of a recording: gzip members of whole lines, starting with the recording's header. */
export const RecordingPart = z.discriminatedUnion("state", [
  /** Still being written, or left by a killed process. The last member may be incomplete. */
  z.object({ state: z.literal("open"), file: z.string().regex(PART_FILE) }),
  z.object({
    state: z.literal("closed"),
    file: z.string().regex(PART_FILE),
    bytes: z.int().min(0),
    /** Market events, including `clock` events. */
    events: z.int().min(0),
    first_at: EventTimeMs,
    last_at: EventTimeMs,
  }),
]);
export type RecordingPart = z.infer<typeof RecordingPart>;

export const RecordingManifest = z.object({
  kind: z.literal("recording-manifest"),
  version: z.literal(1),
  feed: z.string().max(256),
  origin: Origin,
  facts: FeedFacts,
  /** Wall-clock time of the recording's start, ISO 8601. */
  started_at: z.iso.datetime(),
  writer: z.string().max(256),
  /** Oldest first. The first ones may have been removed. Only the last one can be open. */
  parts: z.array(RecordingPart),
});
export type RecordingManifest = z.infer<typeof RecordingManifest>;

/** A file to read, and whether it may end with an incomplete gzip member. */
export interface PartFile {
  readonly path: string;
  readonly isOpen: boolean;
}

interface RecordedDirectory {
  readonly manifest: RecordingManifest;
  readonly parts: readonly PartFile[];
  readonly sizeBytes: number;
}

/**
 * Reads a recording's manifest and checks its parts. Throws `InputError` if the manifest is missing
 * or invalid, or if a closed part is missing or has another size. An open part that is missing or
 * too short for a gzip member is omitted.
 */
export function readRecordingDirectory(directory: string): RecordedDirectory {
  const manifest = readManifest(directory);
  let sizeBytes = 0;
  const parts: PartFile[] = [];
  for (const part of manifest.parts) {
    const path = join(directory, part.file);
    const size = statSync(path, { throwIfNoEntry: false })?.size;
    if (part.state === "closed" && size !== part.bytes) {
      const found = size === undefined ? "it is missing" : `it has ${size}`;
      throw new InputError(path, `the manifest lists ${part.bytes} bytes for this part, but ${found}`);
    }
    // Too short to be recognized as gzip.
    if (size === undefined || size < MIN_MEMBER_BYTES) continue;
    sizeBytes += size;
    parts.push({ path, isOpen: part.state === "open" });
  }
  return { manifest, parts, sizeBytes };
}

/** Reads a recording's manifest. Throws `InputError` if it is missing or invalid. */
export function readManifest(directory: string): RecordingManifest {
  const path = join(directory, MANIFEST_FILE);
  if (!existsSync(path)) {
    const reason = `expected a file or a recording's directory, got a directory without ${MANIFEST_FILE}`;
    throw new InputError(directory, reason);
  }
  const parsed = RecordingManifest.safeParse(readJsonFile(path, "manifest", MAX_MANIFEST_BYTES));
  if (parsed.success) return parsed.data;
  const { field, message } = firstIssue(parsed.error, undefined);
  throw new InputError(path, `${field || "the manifest"}: ${message}`, { cause: parsed.error });
}

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
