import type { DatabaseSync } from "node:sqlite";
import { cachedStatements } from "../../base/lib/io/sqlite.ts";
import { type Group, normalizeAddress } from "../../base/model/index.ts";
import type { PastDataQuery } from "./history-records.ts";

/**
 * One row per recently expired flare. Responses to `?at=` that would contain it are no longer
 * available.
 */
export const EXPIRED_TABLE = `
  CREATE TABLE expired (id TEXT PRIMARY KEY, finished_ms INTEGER NOT NULL, known_ms INTEGER NOT NULL,
    expired_ms INTEGER NOT NULL, address TEXT NOT NULL, symbol TEXT NOT NULL,
    market TEXT NOT NULL DEFAULT 'bsc') STRICT;
  CREATE INDEX by_expiry ON expired (expired_ms);
`;

/** Adds the last column to files of earlier releases. */
export const EXPIRED_GROUP = "ALTER TABLE expired ADD COLUMN market TEXT NOT NULL DEFAULT 'bsc';";

/** Maximum number of rows, about 2 MB: a month of 300 flares a day, with a margin. */
const MAX_ROWS = 10_000;

/** Remembers which flares have expired, for as long as past states are stored. */
export class ExpiredTable {
  readonly #prepare: ReturnType<typeof cachedStatements>;

  constructor(db: DatabaseSync) {
    this.#prepare = cachedStatements(db);
  }

  /**
   * Records as expired the flares that meet `condition` (`?2` is `value`). Call it before deleting
   * them.
   */
  note(nowMs: number, condition: string, value: string | number): void {
    const flares = `SELECT id, finished_ms, known_ms, ?1, address, symbol, market FROM flare WHERE ${condition}`;
    this.#prepare(`INSERT OR REPLACE INTO expired ${flares}`).run(nowMs, value);
  }

  /**
   * Deletes the rows from before this time, and the oldest beyond MAX_ROWS. Returns the latest
   * expiry among the rows beyond MAX_ROWS; 0 if there were none.
   */
  forget(beforeMs: number): number {
    this.#prepare("DELETE FROM expired WHERE expired_ms < ?").run(beforeMs);
    const oldest = "SELECT rowid FROM expired ORDER BY expired_ms DESC LIMIT -1 OFFSET ?";
    const excess = `DELETE FROM expired WHERE rowid IN (${oldest}) RETURNING expired_ms`;
    const forgotten = this.#prepare(excess).all(MAX_ROWS);
    return Math.max(0, ...forgotten.map(({ expired_ms }) => Number(expired_ms)));
  }

  /** Returns whether any matching flare in the past state at `knownMs` has expired since then. */
  has({ knownMs, isFinishedThen = true, id, group, fromMs, toMs, address, symbol }: PastDataQuery): boolean {
    const select = `SELECT 1 FROM expired WHERE expired_ms > ?1 AND known_ms <= ?7
      AND (?8 IS NULL OR market = ?8) AND (?2 IS NULL OR id = ?2) AND (?3 IS NULL OR address = ?3) AND (?4 IS NULL OR symbol = ?4)
      AND finished_ms >= ?5 AND finished_ms <= ?6 LIMIT 1`;
    const token = address === undefined ? null : storedToken(group, address);
    const names = [id ?? null, token, symbol?.toLowerCase() ?? null];
    const bounds = [fromMs ?? Number.MIN_SAFE_INTEGER, toMs ?? Number.MAX_SAFE_INTEGER];
    const finishKnownMs = isFinishedThen ? knownMs : Number.MAX_SAFE_INTEGER;
    return (
      this.#prepare(select).get(knownMs, ...names, ...bounds, finishKnownMs, group ?? null) !== undefined
    );
  }
}

/** Returns what identifies a token in the stored tables. */
export function storedToken(group: Group | undefined, address: string): string {
  return normalizeAddress(group ?? "bsc", address);
}
