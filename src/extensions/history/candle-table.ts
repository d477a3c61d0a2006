import type { DatabaseSync } from "node:sqlite";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { BoundedMap } from "../../base/lib/bounded-map.ts";
import { cachedStatements } from "../../base/lib/io/sqlite.ts";
import { jsonEqual } from "../../base/lib/json-equal.ts";
import type { Notify } from "../../base/lib/notify.ts";
import { messageOf } from "../../base/lib/text/message-of.ts";
import { isoTime } from "../../base/lib/time/iso-time.ts";
import { HOUR_MS, startOf } from "../../base/lib/time/time.ts";
import { type Candle, type Group, normalizeAddress } from "../../base/model/index.ts";
import type { CandleQuery } from "./history-records.ts";

/** One row for each token and hour with candles. */
export const CANDLE_TABLE = `
  CREATE TABLE candle (id INTEGER PRIMARY KEY, market TEXT NOT NULL, address TEXT NOT NULL, hour_ms INTEGER NOT NULL,
    bytes INTEGER NOT NULL, body BLOB NOT NULL) STRICT;
  CREATE UNIQUE INDEX by_token ON candle (market, address, hour_ms);
  CREATE INDEX oldest_candle ON candle (hour_ms, id, bytes);
`;

/** Rows deleted at once, so that a start after a long pause does not block for long. */
const PAGE = 500;
const MAX_REPORTED = 1_000;

/** A candle, and when it became known. A trade that is read late makes another version. */
interface Version {
  readonly knownMs: number;
  readonly candle: Candle;
}

/** A version as stored. `ageMs` counts from the opening: most are equal, and compress well. */
type Packed = readonly [ageMs: number, candle: Candle] | Candle;

/** Stores candles by token and hour, compressed: an hour of trading takes about 1.3 kB. */
export class CandleTable {
  readonly #prepare: ReturnType<typeof cachedStatements>;
  readonly #notify: Notify;
  /** The most recently reported damaged hours. */
  readonly #reported = new BoundedMap<string, true>(MAX_REPORTED);

  constructor(db: DatabaseSync, notify: Notify) {
    this.#prepare = cachedStatements(db);
    this.#notify = notify;
  }

  /** Stores the candles that are new or changed. */
  put(market: Group, address: string, candles: readonly Candle[], knownMs: number): void {
    const hours = Map.groupBy(candles, ({ open_at }) => startOf(HOUR_MS, Date.parse(open_at)));
    for (const [hourMs, added] of hours) {
      const key = [market, normalizeAddress(market, address), hourMs] as const;
      const before = this.#read(...key);
      const then = new Map(asOf(before, knownMs).map((candle) => [candle.open_at, candle]));
      const changed = added.filter((candle) => !jsonEqual(candle, then.get(candle.open_at)));
      if (changed.length === 0) continue;
      const body = pack([...before, ...changed.map((candle) => ({ knownMs, candle }))]);
      const insert =
        "INSERT INTO candle (market, address, hour_ms, bytes, body) VALUES (?, ?, ?, ?, ?) ON CONFLICT (market, address, hour_ms) DO UPDATE SET bytes = excluded.bytes, body = excluded.body";
      this.#prepare(insert).run(...key, body.length, body);
    }
  }

  /**
   * Returns a token's candles that opened within the bounds, oldest first. Skips a damaged hour,
   * but throws if `knownMs` is set: a past state must be exact.
   */
  find({ group, address, fromMs, toMs, knownMs }: CandleQuery): readonly Candle[] {
    const select =
      "SELECT hour_ms, body FROM candle WHERE market = ? AND address = ? AND hour_ms > ? AND hour_ms <= ? ORDER BY hour_ms";
    const token = [group, normalizeAddress(group, address)] as const;
    const rows = this.#prepare(select).all(...token, fromMs - HOUR_MS, toMs);
    const versions = rows.flatMap(({ hour_ms, body }) => {
      if (knownMs !== undefined) return unpack(body as Uint8Array);
      return this.#unpack(body as Uint8Array, "omitting", ...token, Number(hour_ms));
    });
    return asOf(versions, knownMs).filter(({ open_at }) => {
      const openMs = Date.parse(open_at);
      return openMs >= fromMs && openMs <= toMs;
    });
  }

  /** Deletes one page of hours that ended by this time. Returns the last one's end; 0 if none. */
  expire(oldestMs: number): number {
    const old = "SELECT id FROM candle WHERE hour_ms <= ? ORDER BY hour_ms LIMIT ?";
    const deleted = this.#prepare(`DELETE FROM candle WHERE id IN (${old}) RETURNING hour_ms`);
    const hours = deleted.all(oldestMs - HOUR_MS, PAGE);
    return Math.max(0, ...hours.map(({ hour_ms }) => Number(hour_ms) + HOUR_MS));
  }

  /** Reads a stored hour. Returns nothing for a damaged one, so that the next write replaces it. */
  #read(market: Group, address: string, hourMs: number): readonly Version[] {
    const select = "SELECT body FROM candle WHERE market = ? AND address = ? AND hour_ms = ?";
    const row = this.#prepare(select).get(market, address, hourMs);
    return row ? this.#unpack(row.body as Uint8Array, "replacing", market, address, hourMs) : [];
  }

  /** Reads an hour. Returns nothing for a damaged one, and reports it once for each treatment. */
  #unpack(
    body: Uint8Array,
    treatment: "omitting" | "replacing",
    market: Group,
    address: string,
    hourMs: number,
  ): readonly Version[] {
    try {
      return unpack(body);
    } catch (error) {
      const facts = { market, address, hour: isoTime(hourMs) };
      const report = JSON.stringify([treatment, facts]);
      if (!this.#reported.has(report))
        this.#notify("warn", `${treatment} a damaged hour of candles: ${messageOf(error)}`, facts);
      this.#reported.set(report, true);
      return [];
    }
  }
}

/** Returns each minute's newest version of those known at `knownMs`. */
function asOf(versions: readonly Version[], knownMs = Number.POSITIVE_INFINITY): Candle[] {
  const known = versions.filter((version) => version.knownMs <= knownMs);
  return [...new Map(known.map(({ candle }) => [candle.open_at, candle])).values()];
}

/** Compresses the versions, sorted by minute, then by when they became known. */
function pack(versions: readonly Version[]): Buffer {
  const sorted = versions.toSorted((a, b) =>
    a.candle.open_at === b.candle.open_at
      ? a.knownMs - b.knownMs
      : a.candle.open_at < b.candle.open_at
        ? -1
        : 1,
  );
  const packed = sorted.map(({ knownMs, candle }): Packed => [knownMs - Date.parse(candle.open_at), candle]);
  return deflateRawSync(JSON.stringify(packed));
}

function unpack(body: Uint8Array): readonly Version[] {
  const packed = JSON.parse(inflateRawSync(body).toString()) as readonly Packed[];
  return packed.map((one) => {
    // Earlier releases did not store when a candle became known.
    if ("open_at" in one) return { knownMs: 0, candle: one };
    const [ageMs, candle] = one;
    return { knownMs: Date.parse(candle.open_at) + ageMs, candle };
  });
}
