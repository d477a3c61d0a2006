import { mkdirSync, rmSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { PRIVATE_DIRECTORY, PRIVATE_FILE } from "../../base/lib/io/private-file.ts";
import { messageOf } from "../../base/lib/text/message-of.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import { HOUR_MS } from "../../base/lib/time/time.ts";
import { VERSION } from "../../base/lib/version.ts";
import type { MarketEvent } from "../../base/market/index.ts";
import type { Feed } from "../../gateway/source/index.ts";
import { OutputError } from "../output-error.ts";
import { RECORDING_VERSION, type RecordingHeader } from "../recording/header.ts";
import { type RecordingManifest, type RecordingPart, writeManifest } from "../recording/manifest.ts";
import { makeRoom } from "./make-room.ts";

/**
 * A recording cannot be written. The message names the directory and, if recording had started, how
 * many events were saved.
 */
export class RecordingError extends OutputError {
  override readonly name = "RecordingError";
}

export interface RecorderOptions {
  /**
   * Directory of all recordings, created if missing. Each gets a subdirectory named after its
   * start.
   */
  readonly directory: string;
  readonly feed: Pick<Feed, "name" | "origin" | "facts">;
  readonly clock: Clock;
  /**
   * Maximum bytes on disk of all recordings in `directory`. The oldest parts are removed, in
   * other recordings first, so only one process may record there. Must be at least 16 ×
   * `memberChars`, which is not checked. Default Infinity.
   */
  readonly maxBytes?: number;
  /** Bytes on disk at which a part is closed. Default 64 MiB, at most an eighth of `maxBytes`. */
  readonly partBytes?: number;
  /**
   * Milliseconds after which a part is closed, once its next member is written. Default one hour.
   */
  readonly partMs?: number;
  /** A gzip member is written each second, or at this many characters. Default 262,144. */
  readonly memberChars?: number;
}

const SEAL_EVERY_MS = 1_000;
const PART_BYTES = 64 * 1024 * 1024;
const MEMBER_CHARS = 262_144;
/** Maximum number of members that wait for the disk before the writer must wait. */
const MAX_WAITING = 8;

const packed = promisify(gzip);

interface OpenPart {
  readonly file: string;
  readonly handle: FileHandle;
  /** Monotonic time in milliseconds. */
  readonly openedAt: number;
  /** Bytes of complete members. */
  bytes: number;
  events: number;
  firstAt: number;
  lastAt: number;
}

type ClosedPart = RecordingPart & { readonly state: "closed" };

interface Member {
  readonly text: string;
  readonly events: number;
  readonly firstAt: number;
  readonly lastAt: number;
}

/** Creates a directory per recording, so that a restart never mixes events. */
function makeDirectory({ directory, clock }: RecorderOptions): string {
  const name = new Date(clock.now()).toISOString().replaceAll(":", "");
  try {
    mkdirSync(directory, { recursive: true, mode: PRIVATE_DIRECTORY });
    for (let copy = 1; ; copy += 1) {
      const path = join(directory, copy === 1 ? name : `${name}-${copy}`);
      try {
        mkdirSync(path, { mode: PRIVATE_DIRECTORY });
        return path;
      } catch (error) {
        if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
      }
    }
  } catch (error) {
    throw new RecordingError(`cannot record into ${directory}: ${messageOf(error)}`, { cause: error });
  }
}

/**
 * Writes market events as a recording that `replay` reads, as gzip members of whole lines.
 * `RECORDING.md` describes the format. A killed process loses its last second, and on a slow disk
 * the members that wait.
 */
export class Recorder {
  readonly directory: string;
  readonly #options: RecorderOptions;
  readonly #startedAt: string;
  readonly #stopTimer: () => void;
  /** The closed parts that have not been removed, oldest first. */
  readonly #closed: ClosedPart[] = [];
  readonly #partBytes: number;
  readonly #memberChars: number;
  #opened = 0;
  #part: OpenPart | undefined;
  #lines: string[] = [];
  #chars = 0;
  #firstAt = 0;
  #lastAt = 0;
  #waiting = 0;
  #queue: Promise<void> = Promise.resolve();
  #events = 0;
  #failure: RecordingError | undefined;
  #ending: Promise<void> | undefined;

  /** Throws {@link RecordingError} if the directory cannot be created. */
  constructor(options: RecorderOptions) {
    const directory = makeDirectory(options);
    this.#options = options;
    this.directory = directory;
    const {
      partBytes = PART_BYTES,
      memberChars = MEMBER_CHARS,
      maxBytes = Number.POSITIVE_INFINITY,
    } = options;
    this.#partBytes = Math.min(partBytes, maxBytes / 8);
    this.#memberChars = memberChars;
    this.#startedAt = new Date(options.clock.now()).toISOString();
    try {
      this.#writeManifest();
    } catch (error) {
      throw new RecordingError(`cannot record into ${directory}: ${messageOf(error)}`, { cause: error });
    }
    this.#stopTimer = options.clock.every(SEAL_EVERY_MS, () => this.#seal());
  }

  /** Events in complete members so far. Includes `clock` events and events in removed parts. */
  get events(): number {
    return this.#events;
  }

  /** Bytes on disk of the parts that have not been removed. */
  get bytes(): number {
    return this.#closed.reduce((sum, { bytes }) => sum + bytes, this.#part?.bytes ?? 0);
  }

  get parts(): number {
    return this.#closed.length + (this.#part ? 1 : 0);
  }

  get failure(): RecordingError | undefined {
    return this.#failure;
  }

  /**
   * Buffers an event for the disk. Wait for the promise, if any: it bounds memory on a slow disk.
   * Does nothing after a failure or `close`.
   */
  write(event: MarketEvent): Promise<void> | undefined {
    if (this.#failure || this.#ending) return undefined;
    if (this.#lines.length === 0) this.#firstAt = event.at;
    const line = JSON.stringify(event);
    this.#lines.push(line);
    this.#chars += line.length + 1;
    this.#lastAt = event.at;
    if (this.#chars >= this.#memberChars) this.#seal();
    return this.#waiting > MAX_WAITING ? this.#queue : undefined;
  }

  /**
   * Writes buffered events and closes the last part. Idempotent. Never rejects; an error becomes
   * `failure`.
   */
  close(): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  async #end(): Promise<void> {
    this.#stopTimer();
    this.#seal();
    await this.#queue;
    try {
      await this.#closePart();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Queues the buffered events for the disk, as one gzip member. */
  #seal(): void {
    if (this.#lines.length === 0) return;
    const member: Member = {
      text: `${this.#lines.join("\n")}\n`,
      events: this.#lines.length,
      firstAt: this.#firstAt,
      lastAt: this.#lastAt,
    };
    this.#lines = [];
    this.#chars = 0;
    this.#waiting += 1;
    this.#queue = this.#queue.then(async () => {
      try {
        if (!this.#failure) await this.#append(member);
      } catch (error) {
        this.#fail(error);
      } finally {
        this.#waiting -= 1;
      }
    });
  }

  async #append(member: Member): Promise<void> {
    const part = this.#part ?? (await this.#openPart(member.firstAt));
    const text = part.bytes === 0 ? `${JSON.stringify(this.#header())}\n${member.text}` : member.text;
    const bytes = await packed(text);
    await writeWhole(part, bytes);
    part.bytes += bytes.byteLength;
    part.events += member.events;
    part.lastAt = member.lastAt;
    this.#events += member.events;
    const { partMs = HOUR_MS, clock } = this.#options;
    if (part.bytes >= this.#partBytes || clock.monotonic() - part.openedAt >= partMs) await this.#closePart();
  }

  async #openPart(firstAt: number): Promise<OpenPart> {
    this.#makeRoom();
    this.#opened += 1;
    const file = `part-${String(this.#opened).padStart(5, "0")}.ndjson.gz`;
    const handle = await open(join(this.directory, file), "wx", PRIVATE_FILE);
    const openedAt = this.#options.clock.monotonic();
    this.#part = { file, handle, openedAt, bytes: 0, events: 0, firstAt, lastAt: firstAt };
    this.#writeManifest();
    return this.#part;
  }

  async #closePart(): Promise<void> {
    const part = this.#part;
    if (!part) return;
    const { file, handle, bytes, events, firstAt, lastAt } = part;
    await handle.datasync();
    await handle.close();
    this.#part = undefined;
    this.#closed.push({ state: "closed", file, bytes, events, first_at: firstAt, last_at: lastAt });
    this.#writeManifest();
  }

  /**
   * Makes room for the next part: its full size, and one member by which it may exceed that size.
   */
  #makeRoom(): void {
    const { directory: root, maxBytes = Number.POSITIVE_INFINITY } = this.#options;
    if (maxBytes === Number.POSITIVE_INFINITY) return;
    const closed = this.#closed;
    const parts = {
      get next() {
        return closed[0]?.bytes;
      },
      drop: () => {
        const first = closed.shift();
        if (!first) return;
        this.#writeManifest();
        rmSync(join(this.directory, first.file), { force: true });
      },
    };
    const own = { name: basename(this.directory), bytes: this.bytes, parts };
    makeRoom(root, own, maxBytes - this.#partBytes - this.#memberChars);
  }

  #writeManifest(): void {
    const { name, origin, facts } = this.#options.feed;
    const open: readonly RecordingPart[] = this.#part ? [{ state: "open", file: this.#part.file }] : [];
    const manifest: RecordingManifest = {
      kind: "recording-manifest",
      version: 1,
      feed: name,
      origin,
      facts,
      started_at: this.#startedAt,
      writer: `flarewire/${VERSION}`,
      parts: [...this.#closed, ...open],
    };
    writeManifest(this.directory, manifest);
  }

  #header(): RecordingHeader {
    const { origin, facts } = this.#options.feed;
    return { kind: "recording", version: RECORDING_VERSION, origin, facts, clocks: "recorded" };
  }

  #fail(error: unknown): void {
    if (this.#failure) return;
    const savedAt = this.#part?.events ? this.#part.lastAt : this.#closed.at(-1)?.last_at;
    const upTo = savedAt === undefined ? "" : ` up to ${new Date(savedAt).toISOString()}`;
    const message = `recording into ${this.directory} failed: ${messageOf(error)}; ${this.#events} events${upTo} were saved`;
    this.#failure = new RecordingError(message, { cause: error });
    this.#stopTimer();
    this.#lines = [];
    this.#chars = 0;
  }
}

/** Appends after the complete members. If that fails, removes the partial member and rejects. */
async function writeWhole({ handle, bytes: from }: OpenPart, bytes: Buffer): Promise<void> {
  try {
    for (let at = 0; at < bytes.byteLength; ) {
      const { bytesWritten } = await handle.write(bytes, at, bytes.byteLength - at, from + at);
      at += bytesWritten;
    }
  } catch (error) {
    await handle.truncate(from).catch(() => {});
    throw error;
  }
}
