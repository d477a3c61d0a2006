import { setImmediate as turn } from "node:timers/promises";
import { type Stamp, StampedCache } from "../../../base/lib/stamped-cache.ts";
import { isoTime } from "../../../base/lib/time/iso-time.ts";
import { MINUTE_MS, startOf } from "../../../base/lib/time/time.ts";
import { completeSnapshot } from "../../../base/model/index.ts";
import { FlarewireError, formatCursor, parseCursor, type SourceInfo } from "../../../base/protocol/index.ts";
import {
  AT,
  type HeadLike,
  type PastState,
  type PastStates,
  quote,
  ResourceBodies,
  readParameter,
  readyFields,
  stateFields,
} from "../../../gateway/http/index.ts";
import { type Claimant, FairQueue } from "../../../gateway/hub/index.ts";
import type { HistoryReader, MinuteState } from "../index.ts";
import { candlesThen, historyThen } from "./history-then.ts";

interface CachedState extends PastState {
  /** Estimated memory. */
  readonly bytes: number;
}

interface PastStatesDependencies {
  readonly head: HeadLike;
  readonly history: HistoryReader;
  readonly info: () => SourceInfo;
}

type Served = Pick<PastState, "head" | "bodies" | "withCandles">;

/** Enough for four minutes of a busy market. Clients ask for several resources of a minute. */
const MAX_BYTES = 8 * 2 ** 20;
/** Memory of a parsed state with its bodies, for each character of its JSON. */
const STATE_BYTES = 10;
/** Maximum number of states that are read at once. */
export const MAX_READING = 2;
/** Maximum further requests that wait. Reading a state takes some milliseconds. */
export const MAX_WAITING = 100;
/** Maximum of these for one key or address. */
export const MAX_WAITING_OF_CLIENT = 20;

/**
 * Reads past states for the query parameter `at`, few at a time: each takes some milliseconds and
 * megabytes, and live clients are served in between. Clients take turns.
 */
export class StoredPast implements PastStates {
  readonly #dependencies: PastStatesDependencies;
  readonly #waiting = new FairQueue<() => void>();
  #reading = 0;
  readonly #states = new StampedCache<CachedState>(MAX_BYTES, ({ bytes }) => bytes);

  constructor(dependencies: PastStatesDependencies) {
    this.#dependencies = dependencies;
  }

  async read(at: unknown, by: Claimant): Promise<PastState> {
    const { head } = this.#dependencies;
    const givenMs = readParameter("at", AT, at) ?? Number.NaN;
    const atMs = startOf(MINUTE_MS, givenMs);
    if (atMs >= head.observedAtMs) throw notOver(at, head.observedAtMs);
    const now = () => (atMs < head.observedAtMs ? this.#version() : undefined);
    return await this.#states.read(`${atMs}`, now, () => this.inTurn(by, () => this.#load(atMs, now)));
  }

  /**
   * Returns a text that differs whenever stored states may. Without a version of the minutes, it is
   * the position of the head, because states are stored only when the head moves.
   */
  #version(): string {
    const { head, history } = this.#dependencies;
    const { minutesVersion, flaresVersion } = history;
    if (minutesVersion !== undefined) return `${minutesVersion} ${flaresVersion}`;
    return `${formatCursor(head.cursor)} ${head.observedAtMs}`;
  }

  async inTurn<T>(by: Claimant, read: () => Promise<T>): Promise<T> {
    if (this.#reading < MAX_READING) this.#reading += 1;
    else if (this.#waiting.size >= MAX_WAITING) throw tooMany(`${MAX_WAITING}`);
    else if (this.#waiting.sizeOf(by) >= MAX_WAITING_OF_CLIENT)
      throw tooMany(`${MAX_WAITING_OF_CLIENT} of the client's`);
    else {
      await new Promise<void>((resolve) => this.#waiting.push(resolve, by));
      await turn();
    }
    try {
      return await read();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#reading -= 1;
    }
  }

  async #load(atMs: number, now: Stamp): Promise<CachedState> {
    const { history, info } = this.#dependencies;
    const stamp = now();
    const answer = await history.minute(atMs);
    if (!answer.minute) throw answer.hasFailed ? unreadable(atMs) : timeGone(atMs, answer.stored);
    const { cursor, observedAtMs, aliveMs, sourceState } = answer.minute;
    const last = this.#states.last(`${atMs}`);
    const isSame = last?.head.observedAtMs === observedAtMs && formatCursor(last.head.cursor) === cursor;
    const served = isSame ? last : this.#parse(answer.minute, answer.snapshot);
    const isSilent = atMs > aliveMs;
    const fresh = {
      state: isSilent ? sourceState : "live",
      observed_at: isoTime(observedAtMs),
      data_age_ms: isSilent ? atMs - aliveMs : 0,
    };
    const fields = readyFields({
      ...stateFields(served.head.cursor, fresh, info()),
      "flarewire-at": isoTime(atMs),
    });
    return { ...served, atMs, fields, stamp, now, bytes: STATE_BYTES * answer.snapshot.length };
  }

  #parse({ cursor, observedAtMs }: MinuteState, text: string): Served {
    const position = parseCursor(cursor);
    if (!position) throw new TypeError(`the stored cursor ${cursor} is invalid`);
    const { candle_counts: counts, ...lists } = JSON.parse(text);
    const snapshot = completeSnapshot(lists);
    const head = { ready: true, cursor: position, snapshot, observedAtMs };
    const history = historyThen(this.#dependencies.history, observedAtMs);
    const withCandles = async () => {
      const candles = await candlesThen(history, snapshot, counts, observedAtMs);
      return new ResourceBodies({ ...head, snapshot: { ...snapshot, candles } });
    };
    return { head, bodies: new ResourceBodies(head), withCandles };
  }
}

function notOver(at: unknown, observedAtMs: number): FlarewireError {
  const newestMs = Math.ceil(observedAtMs / MINUTE_MS) * MINUTE_MS - MINUTE_MS;
  const newest = isoTime(newestMs);
  const message = `at is ${quote(at)}, a minute that is not over by the time of the data; the newest is ${newest}`;
  return new FlarewireError("invalid-parameter", message, { field: "at", bound: `at most ${newest}` });
}

function tooMany(waiting: string): FlarewireError {
  const bound = `${waiting} requests for past states wait`;
  return new FlarewireError("over-capacity", `the server is busy: ${bound}`, { bound });
}

function unreadable(atMs: number): FlarewireError {
  const message = `the state of ${isoTime(atMs)} cannot be read now: the server's history has a fault, which its log names`;
  return new FlarewireError("not-ready", message, { field: "at" });
}

function timeGone(
  atMs: number,
  stored: { readonly oldestMs: number; readonly newestMs: number } | undefined,
): FlarewireError {
  if (!stored) {
    const bound = "a minute that is over while this server runs";
    const message = `no state is stored for ${isoTime(atMs)}: this server has stored no minute yet; at must be ${bound}`;
    return new FlarewireError("time-gone", message, { field: "at", bound });
  }
  const bound = `from ${isoTime(stored.oldestMs)} to ${isoTime(stored.newestMs)}`;
  const isInside = atMs > stored.oldestMs && atMs < stored.newestMs;
  const why = isInside
    ? "this server did not run, had no data, or could not store them at that minute"
    : "it is outside the stored range";
  const message = `no state is stored for ${isoTime(atMs)}: ${why}; at must be ${bound}`;
  return new FlarewireError("time-gone", message, { field: "at", bound });
}
