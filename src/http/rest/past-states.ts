import type { HistoryReader } from "../../history/index.ts";
import { BoundedMap } from "../../lib/bounded-map.ts";
import { isoTime } from "../../lib/time/iso-time.ts";
import { MINUTE_MS } from "../../lib/time/time.ts";
import { EMPTY_SNAPSHOT } from "../../model/index.ts";
import { FlarewireError, formatCursor, parseCursor, type SourceInfo } from "../../protocol/index.ts";
import { quote } from "../connections/admission.ts";
import type { HeadLike } from "../connections/head-like.ts";
import { readTime } from "../history/history-query.ts";
import { StampedCache } from "../history/stamped-cache.ts";
import { stateFields } from "./freshness-fields.ts";
import { type ReadyFields, readyFields } from "./ready-fields.ts";
import { ResourceBodies } from "./resource-bodies.ts";

/** The state that was served at a full minute. */
export interface PastState {
  readonly atMs: number;
  readonly head: HeadLike;
  readonly bodies: ResourceBodies;
  /** The minute, with age and state of the data as of then. */
  readonly fields: ReadyFields;
}

interface PastParts {
  readonly head: HeadLike;
  readonly history: HistoryReader;
  readonly info: () => SourceInfo;
}

/** States with prepared bodies, each about 2 MB. Clients ask for several resources of a minute. */
const MAX_CACHED = 8;
/** States read at once: half of the thread pool, which also compresses events. */
export const MAX_READING = 2;
/** Further requests that may wait. A state takes some milliseconds. */
export const MAX_WAITING = 100;

/**
 * Reads past states for the query parameter `at`, few at a time: each takes some milliseconds and
 * megabytes, and live clients are served in between.
 */
export class PastStates {
  readonly #parts: PastParts;
  readonly #waiting: (() => void)[] = [];
  #reading = 0;
  readonly #read = new StampedCache<PastState>(MAX_CACHED);
  readonly #cached = new BoundedMap<string, Pick<PastState, "head" | "bodies">>(MAX_CACHED);

  constructor(parts: PastParts) {
    this.#parts = parts;
  }

  /**
   * Returns the state at `at`, rounded down to the minute. Throws `invalid-parameter` unless that
   * minute is over, `time-gone` if its state is not stored, and `over-capacity` if too many wait.
   */
  async read(at: unknown): Promise<PastState> {
    const { head } = this.#parts;
    const givenMs = readTime("at", at) ?? Number.NaN;
    const atMs = Math.floor(givenMs / MINUTE_MS) * MINUTE_MS;
    if (atMs >= head.observedAtMs) throw notOver(at, head.observedAtMs);
    // Nothing past changes without the head.
    const stamp = `${formatCursor(head.cursor)} ${head.observedAtMs}`;
    return await this.#read.get(`${atMs}`, stamp, () => this.#inTurn(atMs));
  }

  async #inTurn(atMs: number): Promise<PastState> {
    if (this.#reading < MAX_READING) this.#reading += 1;
    else if (this.#waiting.length >= MAX_WAITING) throw tooMany();
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await this.#load(atMs);
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#reading -= 1;
    }
  }

  async #load(atMs: number): Promise<PastState> {
    const { history, info } = this.#parts;
    const answer = await history.minute(atMs);
    if (!answer.minute) throw timeGone(atMs, answer.stored);
    const { cursor, observedAtMs, aliveMs, sourceState } = answer.minute;
    const known = this.#cached.ensure(`${cursor} ${observedAtMs}`, () => {
      const position = parseCursor(cursor);
      if (!position) throw new TypeError(`the stored cursor ${cursor} is invalid`);
      const snapshot = { ...EMPTY_SNAPSHOT, ...JSON.parse(answer.snapshot) };
      const past = { ready: true, cursor: position, snapshot, observedAtMs };
      return { head: past, bodies: new ResourceBodies(past) };
    });
    const isSilent = atMs > aliveMs;
    const fresh = {
      state: isSilent ? sourceState : "live",
      observed_at: isoTime(observedAtMs),
      data_age_ms: isSilent ? atMs - aliveMs : 0,
    };
    const fields = readyFields({
      ...stateFields(known.head.cursor, fresh, info()),
      "flarewire-at": isoTime(atMs),
    });
    return { ...known, atMs, fields };
  }
}

function notOver(at: unknown, observedAtMs: number): FlarewireError {
  const newestMs = Math.ceil(observedAtMs / MINUTE_MS) * MINUTE_MS - MINUTE_MS;
  const newest = isoTime(newestMs);
  const message = `at is ${quote(at)}, a minute that is not over by the time of the data; the newest is ${newest}`;
  return new FlarewireError("invalid-parameter", message, { field: "at", bound: `at most ${newest}` });
}

function tooMany(): FlarewireError {
  const bound = `${MAX_WAITING} requests for past states wait`;
  return new FlarewireError("over-capacity", `the server is busy: ${bound}`, { bound });
}

function timeGone(
  atMs: number,
  stored: { readonly oldestMs: number; readonly newestMs: number } | undefined,
): FlarewireError {
  const [oldest, newest] = stored ? [isoTime(stored.oldestMs), isoTime(stored.newestMs)] : [];
  const bound = stored ? `from ${oldest} to ${newest}` : "left out: no minute is stored yet";
  const isInside = stored && atMs > stored.oldestMs && atMs < stored.newestMs;
  const why = isInside ? "this server did not run, or had no data, at that minute" : "it is out of reach";
  const message = `no state is stored for ${isoTime(atMs)}: ${why}; at must be ${bound}`;
  return new FlarewireError("time-gone", message, { field: "at", bound });
}
