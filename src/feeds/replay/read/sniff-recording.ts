import { closeSync, openSync, readFileSync, readSync, statSync } from "node:fs";
import { constants, gunzipSync } from "node:zlib";
import { InputError } from "../../../base/lib/input-error.ts";
import { messageOf } from "../../../base/lib/text/message-of.ts";
import type { FeedFacts, Origin } from "../../../base/market/index.ts";
import { type PartFile, readRecordingDirectory } from "../../recording/manifest.ts";
import { csvFirstLine } from "./candle-csv.ts";
import { readHeader } from "./event-ndjson.ts";
import { containerProblem, csvProblem, importCure, orderProblem, textProblem } from "./foreign-kind.ts";
import { isGzip } from "./read-bytes.ts";
import { excerpt } from "./skips.ts";

export type RecordingFormat = "csv" | "ndjson";

export interface RecordingHead {
  readonly format: RecordingFormat;
  readonly sizeBytes: number;
  readonly origin: Origin;
  readonly facts: FeedFacts;
  /** The recording contains every clock of the feed. */
  readonly hasOwnClocks: boolean;
  readonly parts: readonly PartFile[];
}

/** Number of bytes to inspect. Gzip unpacks them to at most 1,032 times as many. */
const HEAD_BYTES = 4_096;
/** Places of a candle file at which the order of its lines is checked, and the lines at each. */
const PLACES = 32;
const SAMPLE_LINES = 4;
/** A larger file is not unpacked only to check the order of its lines. */
const MAX_UNPACKED_BYTES = 128 * 2 ** 20;
const MAX_PACKED_BYTES = MAX_UNPACKED_BYTES / 16;
/** The fractional part of the golden ratio: its multiples are at no regular distance. */
const GOLDEN = 0.618;

/**
 * Inspects a recording's start, or a directory's manifest. Throws `InputError` if it is unreadable
 * or of neither format.
 */
export function sniffRecording(path: string, format: RecordingFormat | "auto"): RecordingHead {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return directoryHead(path, format);
  const { head, sizeBytes } = readHead(path);
  if (sizeBytes === 0) throw new InputError(path, "the file is empty");
  const container = containerProblem(head, path);
  if (container !== undefined) throw new InputError(path, container);
  const text = new TextDecoder().decode(isGzip(head) ? unpackHead(path, head, sizeBytes) : head);
  const lines = text.split("\n").map((line) => line.trim());
  const firstLine = lines.find((line) => line !== "");
  if (firstLine === undefined) throw new InputError(path, "the first 4 KiB of the file contain no line");
  const foreign = textProblem(firstLine, path);
  if (foreign !== undefined) throw new InputError(path, foreign, { line: 1 });
  const found = format === "auto" ? (firstLine.startsWith("{") ? "ndjson" : "csv") : format;
  return {
    format: found,
    sizeBytes,
    parts: [{ path, isOpen: false }],
    ...(found === "csv" ? csvHead(path, firstLine, lines, sizeBytes) : ndjsonHead(path, firstLine, lines)),
  };
}

function directoryHead(path: string, format: RecordingFormat | "auto"): RecordingHead {
  if (format === "csv") throw new InputError(path, "expected a file of candles, got a directory");
  const { manifest, parts, sizeBytes } = readRecordingDirectory(path);
  return {
    format: "ndjson",
    sizeBytes,
    parts,
    origin: replayedOrigin(manifest.origin),
    facts: manifest.facts,
    hasOwnClocks: true,
  };
}

/** Simulated data stays simulated; everything else becomes recorded. */
function replayedOrigin(origin: Origin | undefined): Origin {
  return origin === "simulated" ? "simulated" : "recorded";
}

function readHead(path: string): { head: Buffer; sizeBytes: number } {
  let descriptor: number | undefined;
  try {
    // Checked before opening, because opening a pipe without a writer would block the process.
    const stat = statSync(path);
    // A pipe can be read only once, and not inspected beforehand.
    if (!stat.isFile())
      throw new InputError(path, "not a regular file; write the pipe's output to a file first");
    descriptor = openSync(path, "r");
    const head = Buffer.alloc(HEAD_BYTES);
    return { head: head.subarray(0, readSync(descriptor, head, 0, HEAD_BYTES, 0)), sizeBytes: stat.size };
  } catch (error) {
    if (error instanceof InputError) throw error;
    const missing = error instanceof Error && "code" in error && error.code === "ENOENT";
    throw new InputError(path, missing ? "no such file" : `cannot read the file: ${messageOf(error)}`, {
      cause: error,
    });
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Unpacks the head. If it is the whole file without a complete line, checks for truncation. */
function unpackHead(path: string, head: Buffer, sizeBytes: number): Buffer {
  try {
    const text = gunzipSync(head, { finishFlush: constants.Z_SYNC_FLUSH });
    if (sizeBytes <= head.length && !text.includes("\n")) {
      const whole = gunzipSync(head);
      if (whole.length === 0) throw new InputError(path, "the unpacked file is empty");
    }
    return text;
  } catch (error) {
    if (error instanceof InputError) throw error;
    const cut = error instanceof Error && "code" in error && error.code === "Z_BUF_ERROR";
    const reason = cut
      ? "the file is truncated after line 0: no complete line can be unpacked"
      : "the start of the file's packed data is damaged";
    throw new InputError(path, reason, { line: 0, cause: error });
  }
}

/**
 * Returns groups of consecutive lines from everywhere in a file: all lines of a small one. The
 * places in a large one are at uneven distances: in a file of equally long pairs, even ones could
 * all be at the same time.
 */
function samplesOf(path: string, sizeBytes: number): readonly (readonly string[])[] {
  const descriptor = openSync(path, "r");
  const readAt = (at: number, bytes: number) => {
    const read = Buffer.alloc(bytes);
    return read.subarray(0, readSync(descriptor, read, 0, bytes, at));
  };
  try {
    const unpacked = isGzip(readAt(0, 2)) ? unpackAll(path, sizeBytes) : undefined;
    const size = unpacked?.length ?? sizeBytes;
    const linesAt = (at: number, bytes: number) =>
      (unpacked?.subarray(at, at + bytes) ?? readAt(at, bytes)).toString("latin1").split("\n");
    if (size <= PLACES * HEAD_BYTES) {
      const lines = linesAt(0, size);
      const groups = Math.floor(lines.length / SAMPLE_LINES);
      return Array.from({ length: groups }, (_, group) =>
        lines.slice(group * SAMPLE_LINES, (group + 1) * SAMPLE_LINES),
      );
    }
    return Array.from({ length: PLACES }, (_, place) => {
      const at = Math.floor((size * (place + ((place * GOLDEN) % 1))) / PLACES);
      // The first line and the last one may be incomplete.
      return linesAt(at, HEAD_BYTES).slice(1, -1).slice(0, SAMPLE_LINES);
    });
  } finally {
    closeSync(descriptor);
  }
}

/** Unpacks a file; to nothing if it is large or damaged, which is found when it is played. */
function unpackAll(path: string, sizeBytes: number): Buffer {
  if (sizeBytes > MAX_PACKED_BYTES) return Buffer.alloc(0);
  try {
    return gunzipSync(readFileSync(path), { maxOutputLength: MAX_UNPACKED_BYTES });
  } catch {
    return Buffer.alloc(0);
  }
}

type ContentFacts = Pick<RecordingHead, "origin" | "facts" | "hasOwnClocks">;

function csvHead(path: string, firstLine: string, lines: readonly string[], sizeBytes: number): ContentFacts {
  const kind = csvFirstLine(firstLine);
  if (
    kind === "header" &&
    sizeBytes <= HEAD_BYTES &&
    lines.every((line) => line === "" || line === firstLine)
  )
    throw new InputError(path, "no line of the file is usable; it contains no market events");
  const problem =
    typeof kind === "object"
      ? `${kind.problem}; ${importCure(path)}`
      : (csvProblem(lines.slice(0, -1), path) ?? orderProblem(samplesOf(path, sizeBytes), path));
  if (problem !== undefined) throw new InputError(path, problem, { line: 1 });
  const facts = { trades: false, liquidity: false, listings: false, profiles: false };
  return { origin: "recorded", facts, hasOwnClocks: false };
}

function ndjsonHead(path: string, firstLine: string, lines: readonly string[]): ContentFacts {
  if (!firstLine.startsWith("{")) {
    throw new InputError(path, `the first line is ${excerpt(firstLine)}, expected a JSON object`, {
      line: 1,
    });
  }
  const header = readHeader(firstLine);
  if (header && "problem" in header) throw new InputError(path, header.problem, { line: 1 });
  if (header) {
    const { origin, facts, clocks } = header;
    return { origin: replayedOrigin(origin), facts, hasOwnClocks: clocks === "recorded" };
  }
  const of = (kind: string) =>
    lines.filter((line) => line.includes(`"kind":"${kind}"`) || line.includes(`"kind": "${kind}"`));
  const has = (kind: string) => of(kind).length > 0;
  return {
    origin: "recorded",
    hasOwnClocks: false,
    facts: {
      // An exchange's trades have no trader, so they are not this fact.
      trades: of("trade").some((line) => line.includes('"trader"')),
      liquidity: has("liquidity"),
      listings: has("listing"),
      profiles: has("profile"),
    },
  };
}
