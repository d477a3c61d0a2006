import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { InputError } from "../../lib/input-error.ts";
import { messageOf } from "../../lib/text/message-of.ts";
import { EventTimeMs, FeedFacts, Origin } from "../../market/index.ts";

/** Name of the file in a recording's directory that says what the recording is and which parts it has. */
export const MANIFEST_FILE = "manifest.json";

/** A manifest of ten years in parts of an hour is smaller. */
const MAX_MANIFEST_BYTES = 64 * 1024 * 1024;

/** Header and trailer of RFC 1952. */
const MIN_MEMBER_BYTES = 18;

/** How the files of a recording's parts are called. */
export const PART_FILE: RegExp = /^part-\d{5,9}\.ndjson\.gz$/;

/** One file of a recording: gzip members, each of whole lines, the first line the recording's header. */
export const RecordingPart = z.discriminatedUnion("state", [
  /** It is being written, or was when its process was killed: its last member may be torn. */
  z.object({ state: z.literal("open"), file: z.string().regex(PART_FILE) }),
  z.object({
    state: z.literal("closed"),
    file: z.string().regex(PART_FILE),
    bytes: z.int().min(0),
    /** Market events, clocks included. */
    events: z.int().min(0),
    /** Event time of its first and last event. */
    first_at: EventTimeMs,
    last_at: EventTimeMs,
  }),
]);
export type RecordingPart = z.infer<typeof RecordingPart>;

/** What `manifest.json` holds. */
export const RecordingManifest = z.object({
  kind: z.literal("recording-manifest"),
  version: z.literal(1),
  /** Name of the feed that was recorded. */
  feed: z.string().max(256),
  origin: Origin,
  facts: FeedFacts,
  /** Wall-clock time at which the recording began, ISO 8601. */
  started_at: z.iso.datetime(),
  /** Program and version that wrote it. */
  writer: z.string().max(256),
  /** In the order of time; the first ones may have been removed. Only the last one can be open. */
  parts: z.array(RecordingPart),
});
export type RecordingManifest = z.infer<typeof RecordingManifest>;

/** A file to read, and whether it may end in a torn member. */
export interface PartFile {
  readonly path: string;
  readonly isOpen: boolean;
}

/** A recording that is a directory. */
interface RecordedDirectory {
  readonly manifest: RecordingManifest;
  readonly parts: readonly PartFile[];
  readonly sizeBytes: number;
}

/**
 * Reads the manifest of a recording's directory and looks at its parts. Throws `InputError` where there is none, it cannot be understood, or a
 * part that was closed is missing or of another size than was written. An open part may be missing: its process ended before it wrote any of it.
 */
export function readRecordingDirectory(directory: string): RecordedDirectory {
  const manifest = readManifest(directory);
  let sizeBytes = 0;
  const parts: PartFile[] = [];
  for (const part of manifest.parts) {
    const path = join(directory, part.file);
    const size = statSync(path, { throwIfNoEntry: false })?.size;
    if (part.state === "closed" && size !== part.bytes) {
      const found = size === undefined ? "it is missing" : `it has ${size} bytes`;
      throw new InputError(path, `the manifest says that this part has ${part.bytes} bytes, and ${found}`);
    }
    // Less than the shortest member there can be says not even that it is gzip.
    if (size === undefined || size < MIN_MEMBER_BYTES) continue;
    sizeBytes += size;
    parts.push({ path, isOpen: part.state === "open" });
  }
  return { manifest, parts, sizeBytes };
}

/** The manifest of a recording's directory. Throws `InputError` where there is none, or it cannot be understood. */
export function readManifest(directory: string): RecordingManifest {
  const path = join(directory, MANIFEST_FILE);
  let text: string;
  try {
    const { size } = statSync(path);
    if (size > MAX_MANIFEST_BYTES)
      throw new InputError(path, `${size} bytes of manifest are more than the ${MAX_MANIFEST_BYTES} allowed`);
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof InputError) throw error;
    const missing = error instanceof Error && "code" in error && error.code === "ENOENT";
    if (!missing)
      throw new InputError(path, `the manifest cannot be read: ${messageOf(error)}`, { cause: error });
    const reason = `this is a directory without ${MANIFEST_FILE}, expected a file or the directory of one recording`;
    throw new InputError(directory, reason, { cause: error });
  }
  const parsed = RecordingManifest.safeParse(parseJson(path, text));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = issue?.path.map(String).join(".") || "the manifest";
  throw new InputError(path, `${field}: ${issue?.message}`, { cause: parsed.error });
}

function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new InputError(path, `the manifest is not JSON: ${messageOf(error)}`, { cause: error });
  }
}
