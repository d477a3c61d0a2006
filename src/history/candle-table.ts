import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { cachedStatements } from "../lib/io/sqlite.ts";
import { HOUR_MS } from "../lib/time/time.ts";
import type { Candle, Group } from "../model/index.ts";
import type { CandleQuery } from "./history-store.ts";

/** One row for each token and hour with candles. */
export const CANDLE_TABLE = `
  CREATE TABLE candle (id INTEGER PRIMARY KEY, market TEXT NOT NULL, address TEXT NOT NULL, hour_ms INTEGER NOT NULL,
    bytes INTEGER NOT NULL, body BLOB NOT NULL) STRICT;
  CREATE UNIQUE INDEX by_token ON candle (market, address, hour_ms);
  CREATE INDEX oldest_candle ON candle (hour_ms, id, bytes);
`;

/** Rows deleted at once, so that a start after a long pause does not block for long. */
const PAGE = 500;

/** Stores candles by token and hour, compressed: an hour of trading takes about 1.3 kB. */
export class CandleTable {
  readonly #prepare: ReturnType<typeof cachedStatements>;

  constructor(db: DatabaseSync) {
    this.#prepare = cachedStatements(db);
  }

  /** Stores candles, in place of earlier ones of their minutes. */
  put(market: Group, address: string, candles: readonly Candle[]): void {
    const hours = Map.groupBy(candles, ({ open_at }) => Math.floor(Date.parse(open_at) / HOUR_MS) * HOUR_MS);
    for (const [hourMs, added] of hours) {
      const key = [market, address.toLowerCase(), hourMs];
      const byMinute = new Map(this.#read(...key).map((candle) => [candle.open_at, candle]));
      for (const candle of added) byMinute.set(candle.open_at, candle);
      const sorted = [...byMinute.values()].sort((a, b) => (a.open_at < b.open_at ? -1 : 1));
      const body = deflateRawSync(JSON.stringify(sorted));
      const insert =
        "INSERT INTO candle (market, address, hour_ms, bytes, body) VALUES (?, ?, ?, ?, ?) ON CONFLICT (market, address, hour_ms) DO UPDATE SET bytes = excluded.bytes, body = excluded.body";
      this.#prepare(insert).run(...key, body.length, body);
    }
  }

  /** Returns a token's candles that opened within the bounds, oldest first. */
  find({ group, address, fromMs, toMs }: CandleQuery): readonly Candle[] {
    const select =
      "SELECT body FROM candle WHERE market = ? AND address = ? AND hour_ms > ? AND hour_ms <= ? ORDER BY hour_ms";
    const rows = this.#prepare(select).all(group, address.toLowerCase(), fromMs - HOUR_MS, toMs);
    return rows
      .flatMap(({ body }) => unpack(body as Uint8Array))
      .filter(({ open_at }) => Date.parse(open_at) >= fromMs && Date.parse(open_at) <= toMs);
  }

  /** Deletes a page of the hours that ended before this time. */
  expire(oldestMs: number): void {
    const old = "SELECT id FROM candle WHERE hour_ms <= ? ORDER BY hour_ms LIMIT ?";
    this.#prepare(`DELETE FROM candle WHERE id IN (${old})`).run(oldestMs - HOUR_MS, PAGE);
  }

  #read(...key: readonly SQLInputValue[]): readonly Candle[] {
    const select = "SELECT body FROM candle WHERE market = ? AND address = ? AND hour_ms = ?";
    const row = this.#prepare(select).get(...key);
    return row ? unpack(row.body as Uint8Array) : [];
  }
}

function unpack(body: Uint8Array): readonly Candle[] {
  return JSON.parse(inflateRawSync(body).toString()) as Candle[];
}
