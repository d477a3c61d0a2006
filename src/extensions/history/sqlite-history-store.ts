import type { DatabaseSync, SQLOutputValue } from "node:sqlite";
import { cachedStatements, openStore, type Statement, transact } from "../../base/lib/io/sqlite.ts";
import type { Notify } from "../../base/lib/notify.ts";
import { DAY_MS, HOUR_MS } from "../../base/lib/time/time.ts";
import { type Candle, type Explanation, groupOf, type Outcome, tokenOf } from "../../base/model/index.ts";
import { CANDLE_TABLE, CandleTable } from "./candle-table.ts";
import { EXPIRED_GROUP, EXPIRED_TABLE, ExpiredTable, storedToken } from "./expired-table.ts";
import type {
  CandleQuery,
  FlareFinish,
  FlareOutcome,
  FlareStart,
  HistoryBatch,
  HistoryQuery,
  PastDataQuery,
  StoredOutcome,
  StoredRecord,
  StoreLimits,
  SymbolQuery,
} from "./history-records.ts";

/**
 * Columns for past states: when each finish and outcome became known, and the previous outcome.
 * `since_ms`: past states from this time on are complete, apart from flares in the table `expired`;
 * `candles_ms`: candles from this time on are complete.
 */
const PAST_COLUMNS = `
  ALTER TABLE flare ADD COLUMN known_ms INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE flare ADD COLUMN earlier TEXT;
  ALTER TABLE flare ADD COLUMN outcome_ms INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE position ADD COLUMN since_ms INTEGER;
  ALTER TABLE position ADD COLUMN candles_ms INTEGER NOT NULL DEFAULT 0;
  ${EXPIRED_TABLE}
`;

/**
 * `newest` finds the oldest flares, to delete them; the others serve pages of results. `by_market`
 * includes `known_ms`, so that a page for a past minute skips later flares without reading their
 * rows.
 */
const FLARE_INDEXES = `
  CREATE INDEX newest ON flare (finished_ms, id, bytes);
  CREATE INDEX by_market ON flare (market, finished_ms, id, known_ms);
  CREATE INDEX by_address ON flare (market, address, finished_ms, id);
  CREATE INDEX by_symbol ON flare (market, symbol, finished_ms, id);
`;
/** Whether the market is simulated or recorded. */
const ORIGIN_COLUMN = "ALTER TABLE position ADD COLUMN is_generated INTEGER;";

/** The token's group. Earlier releases stored flares of `bsc` only. */
const GROUP_COLUMN = `
  ALTER TABLE flare ADD COLUMN market TEXT NOT NULL DEFAULT 'bsc';
  DROP INDEX newest; DROP INDEX by_address; DROP INDEX by_symbol; ${FLARE_INDEXES}
`;

const FORM = {
  /** `FLWH`. */
  applicationId: 0x464c5748,
  version: 6,
  upgrades: {
    1: `ALTER TABLE flare ADD COLUMN outcome TEXT NOT NULL DEFAULT 'null'; ${CANDLE_TABLE} ${PAST_COLUMNS} ${ORIGIN_COLUMN} ${GROUP_COLUMN}`,
    2: `${CANDLE_TABLE} ${PAST_COLUMNS} ${ORIGIN_COLUMN} ${GROUP_COLUMN}`,
    3: `${PAST_COLUMNS} ${ORIGIN_COLUMN} ${GROUP_COLUMN}`,
    4: `${ORIGIN_COLUMN} ${EXPIRED_GROUP} ${GROUP_COLUMN}`,
    5: `${EXPIRED_GROUP} ${GROUP_COLUMN}`,
  },
  tables: `
  CREATE TABLE position (one INTEGER PRIMARY KEY CHECK (one = 1), cursor TEXT NOT NULL, since_ms INTEGER,
    candles_ms INTEGER NOT NULL DEFAULT 0, is_generated INTEGER) STRICT;
  CREATE TABLE start (id TEXT PRIMARY KEY, at_ms INTEGER NOT NULL, bytes INTEGER NOT NULL, why TEXT NOT NULL) STRICT;
  CREATE TABLE flare (id TEXT PRIMARY KEY, finished_ms INTEGER NOT NULL, address TEXT NOT NULL, symbol TEXT NOT NULL,
    bytes INTEGER NOT NULL, flare TEXT NOT NULL, started TEXT NOT NULL, why TEXT NOT NULL, cause TEXT NOT NULL,
    outcome TEXT NOT NULL, known_ms INTEGER NOT NULL, earlier TEXT, outcome_ms INTEGER NOT NULL,
    market TEXT NOT NULL) STRICT;
  CREATE INDEX oldest_start ON start (at_ms, id, bytes);
  ${FLARE_INDEXES}
  ${CANDLE_TABLE} ${EXPIRED_TABLE}
`,
};

/** Past states show the candles of the day before, so candles are stored for a day longer. */
const SHOWN_MS = DAY_MS;
/** Later than every known time. */
const NOW = Number.MAX_SAFE_INTEGER;

/** The tables whose rows count toward `maxBytes`. To save bytes, candles expire first. */
const COUNTED = ["candle", "flare", "start"];

const TABLES = [...COUNTED, "expired", "position"];

/** Triggers maintain the sum of the rows' bytes. A rollback undoes their updates, too. */
const SIZE = `
  PRAGMA temp_store = MEMORY;
  PRAGMA recursive_triggers = ON;
  CREATE TEMP TABLE size (bytes INTEGER NOT NULL) STRICT;
  INSERT INTO size SELECT CAST(total(bytes) AS INTEGER)
    FROM (${COUNTED.map((table) => `SELECT bytes FROM ${table}`).join(" UNION ALL ")});
  ${COUNTED.map(countChanges).join("")}
`;

/** A record that is not JSON would spoil each answer that contains it. */
const DAMAGED_FLARES = `DELETE FROM flare WHERE NOT (json_valid(flare) AND json_valid(started) AND json_valid(why)
  AND json_valid(outcome) AND coalesce(json_valid(earlier), 1)) RETURNING id`;

/** Deletes all rows without the triggers, which would run for each. */
const CLEAR = `
  ${COUNTED.map((table) => `DROP TRIGGER insert_${table}; DROP TRIGGER delete_${table}; DROP TRIGGER update_${table};`).join("")}
  ${TABLES.map((table) => `DELETE FROM ${table};`).join("")}
  UPDATE size SET bytes = 0;
  ${COUNTED.map(countChanges).join("")}
`;

function countChanges(table: string): string {
  const on = (change: string, bytes: string) =>
    `CREATE TEMP TRIGGER ${change.toLowerCase()}_${table} AFTER ${change} ON main.${table} BEGIN UPDATE size SET bytes = bytes + ${bytes}; END;`;
  return on("INSERT", "new.bytes") + on("DELETE", "-old.bytes") + on("UPDATE", "new.bytes - old.bytes");
}

/**
 * Opens the file at `path`, or memory, and removes damaged flares and starts. Throws if the file is
 * unusable or another program's.
 */
export function openSqliteHistoryStore(
  limits: StoreLimits,
  path?: string,
  notify: Notify = () => {},
): HistoryStore {
  return openStore(path, FORM, (db) => {
    // No flush to disk per commit: changes that a power cut loses are read from the log again.
    db.exec(`PRAGMA synchronous = NORMAL; ${SIZE}`);
    for (const { id } of db.prepare(DAMAGED_FLARES).all())
      notify("warn", "removed a damaged record of a flare", { flare: id });
    db.exec("DELETE FROM start WHERE NOT json_valid(why)");
    return new HistoryStore(db, limits, notify);
  });
}

type Row = Record<string, SQLOutputValue>;

/**
 * Stores finished flares and the candles around them for longer than the log and the lists do.
 * Bounded by age and bytes. The oldest expire first. To save bytes, candles expire before flares.
 */
export class HistoryStore {
  readonly #db: DatabaseSync;
  readonly #limits: StoreLimits;
  readonly #prepare: (sql: string) => Statement;
  readonly #candles: CandleTable;
  readonly #expired: ExpiredTable;
  #flaresVersion = 0;

  constructor(db: DatabaseSync, limits: StoreLimits, notify: Notify) {
    this.#db = db;
    this.#prepare = cachedStatements(db);
    this.#limits = limits;
    this.#candles = new CandleTable(db, notify);
    this.#expired = new ExpiredTable(db);
  }

  /** The position in the log up to which it is complete; `undefined` if nothing was stored yet. */
  get cursor(): string | undefined {
    const row = this.#get("SELECT cursor FROM position");
    return row && String(row.cursor);
  }

  /** Whether the stored history is of a simulated or recorded market; `undefined` if unknown. */
  get isGenerated(): boolean | undefined {
    const known = this.#get("SELECT is_generated FROM position")?.is_generated ?? null;
    return known === null ? undefined : known !== 0;
  }

  /** Forgets whether the market is simulated or recorded. For a store without a history. */
  forgetOrigin(): void {
    this.#prepare("UPDATE position SET is_generated = NULL").run();
  }

  /** Number of flares, and the bytes of records, starts and candles, without indexes. */
  get size(): { readonly flares: number; readonly bytes: number } {
    const counts = this.#get("SELECT (SELECT count(*) FROM flare) AS flares, bytes FROM size");
    return { flares: Number(counts?.flares), bytes: Number(counts?.bytes) };
  }

  /** Changes whenever a flare's record may change. */
  get flaresVersion(): number {
    return this.#flaresVersion;
  }

  /**
   * Stores a batch and its cursor atomically, and deletes what exceeds the limits. A repeated batch
   * changes nothing.
   */
  commit(batch: HistoryBatch): void {
    const { cursor, nowMs, isGenerated, isAnotherMarket, starts, finishes, outcomes, candles = [] } = batch;
    transact(this.#db, () => {
      if (isAnotherMarket) this.#db.exec(CLEAR);
      for (const start of starts) this.#start(start, nowMs);
      for (const finish of finishes) this.#finish(finish, nowMs);
      for (const outcome of outcomes) this.#setOutcome(outcome, nowMs);
      for (const { group, address, candles: own, atMs = nowMs } of candles)
        this.#candles.put(group, address, own, atMs);
      const oldestMs = nowMs - this.#limits.maxAgeMs;
      this.#prepare("DELETE FROM start WHERE at_ms < ?").run(oldestMs);
      this.#expired.note(nowMs, "finished_ms < ?2", oldestMs);
      const { changes } = this.#prepare("DELETE FROM flare WHERE finished_ms < ?").run(oldestMs);
      const expiredMs = this.#candles.expire(oldestMs - SHOWN_MS);
      const excess = this.size.bytes - this.#limits.maxBytes;
      const shrunkMs = excess > 0 ? this.#shrink(excess, nowMs) : 0;
      const knownMs = this.#expired.forget(oldestMs);
      this.#prepare(
        `INSERT INTO position VALUES (1, ?1, ?2, ?3, ?5) ON CONFLICT DO UPDATE SET cursor = ?1,
          since_ms = max(coalesce(since_ms, ?2), ?4), candles_ms = max(candles_ms, ?3),
          is_generated = coalesce(max(is_generated, ?5), is_generated, ?5)`,
      ).run(
        ...[cursor, nowMs, Math.max(expiredMs, shrunkMs), knownMs],
        isGenerated === undefined ? null : Number(isGenerated),
      );
      const isChanged =
        isAnotherMarket || starts.length + finishes.length + outcomes.length > 0 || Number(changes) > 0;
      if (isChanged || excess > 0) this.#flaresVersion += 1;
    });
  }

  /**
   * Returns why a running flare started; `null` if no reason is known, `undefined` if its start is
   * not stored.
   */
  started(id: string): Explanation | null | undefined {
    const row = this.#get("SELECT why FROM start WHERE id = ?", id);
    return row && (JSON.parse(String(row.why)) as Explanation | null);
  }

  /** Returns a finished flare, as it was known at an event time. Default: now. */
  find(id: string, knownMs = NOW): StoredRecord | undefined {
    const row = this.#get("SELECT * FROM flare WHERE id = ? AND known_ms <= ?", id, knownMs);
    return row && readRecord(row, knownMs);
  }

  /** Returns up to `limit` records, newest finish first. */
  page(query: HistoryQuery): readonly StoredRecord[] {
    const columns = "finished_ms, id, flare, started, why, cause, outcome, earlier, outcome_ms";
    return this.#select(columns, query).map((row) => readRecord(row, query.knownMs));
  }

  /** Returns the outcomes of the flares that {@link page} would return. */
  outcomes(query: HistoryQuery): readonly StoredOutcome[] {
    const startedAt = "flare ->> 'started_trending_at' AS started_at";
    const columns = `finished_ms, id, ${startedAt}, outcome, earlier, outcome_ms`;
    return this.#select(columns, query).map((row) => readOutcome(row, query.knownMs));
  }

  /** Returns whether all matching data known at `knownMs` is still stored. */
  stillHas(query: PastDataQuery): boolean {
    const { knownMs, candlesFromMs = NOW } = query;
    const position = this.#get("SELECT since_ms, candles_ms FROM position");
    if (!position || position.since_ms === null || knownMs < Number(position.since_ms)) return false;
    return candlesFromMs >= Number(position.candles_ms) && !this.#expired.has(query);
  }

  #select(columns: string, query: HistoryQuery): readonly Row[] {
    const { group = "bsc", fromMs, toMs, address, symbol, after, knownMs, limit } = query;
    const wanted: (readonly [condition: string, ...values: (string | number)[]])[] = [["market = ?", group]];
    if (fromMs !== undefined) wanted.push(["finished_ms >= ?", fromMs]);
    if (toMs !== undefined) wanted.push(["finished_ms <= ?", toMs]);
    if (address !== undefined) wanted.push(["address = ?", storedToken(group, address)]);
    if (symbol !== undefined) wanted.push(["symbol = ?", symbol.toLowerCase()]);
    if (after !== undefined) wanted.push(["(finished_ms, id) < (?, ?)", after.finishedMs, after.id]);
    if (knownMs !== undefined) wanted.push(["known_ms <= ?", knownMs]);
    const where = wanted.map(([condition]) => condition).join(" AND ");
    const values = wanted.flatMap(([, ...bound]) => bound);
    const sql = `SELECT ${columns} FROM flare WHERE ${where} ORDER BY finished_ms DESC, id DESC LIMIT ?`;
    return this.#prepare(sql).all(...values, limit);
  }

  /** Returns a token's candles, oldest first. */
  candles(query: CandleQuery): readonly Candle[] {
    return this.#candles.find(query);
  }

  /** Returns the ids (see `tokenOf`) of the tokens with this symbol that have finished flares. */
  tokensOf({ group, symbol, knownMs = NOW, limit }: SymbolQuery): readonly string[] {
    const select =
      "SELECT DISTINCT address FROM flare WHERE market = ? AND symbol = ? AND known_ms <= ? ORDER BY address LIMIT ?";
    return this.#prepare(select)
      .all(group, symbol.toLowerCase(), knownMs, limit)
      .map(({ address }) => String(address));
  }

  close(): void {
    this.#db.close();
  }

  #start({ id, at, why }: FlareStart, nowMs: number): void {
    const insert =
      "INSERT INTO start SELECT ?1, ?2, ?3, ?4 WHERE NOT EXISTS (SELECT 1 FROM flare WHERE id = ?1) ON CONFLICT DO NOTHING";
    const text = JSON.stringify(why);
    const bytes = Buffer.byteLength(text);
    this.#prepare(insert).run(id, timeOf(at, nowMs), bytes, text);
    // A finish may have been read from the lists first.
    const complete =
      "UPDATE flare SET started = ?2, bytes = bytes + ?3 - 4 WHERE id = ?1 AND started = 'null'";
    this.#prepare(complete).run(id, text, bytes);
  }

  /**
   * Stores a finished flare. Takes its start from the table `start`, or from the flare's existing
   * row.
   */
  #finish({ flare, why, cause, outcome, atMs }: FlareFinish, nowMs: number): void {
    const { id, token, finished_trending_at: finishedAt } = flare;
    const known = this.#get(
      "SELECT why, NULL AS outcome FROM start WHERE id = ?1 UNION ALL SELECT started, outcome FROM flare WHERE id = ?1 LIMIT 1",
      id,
    );
    const texts = [JSON.stringify(flare), String(known?.why ?? null), JSON.stringify(why)];
    const outcomeText = String(known?.outcome ?? JSON.stringify(outcome));
    this.#prepare(
      `INSERT INTO flare VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, 0, ?) ON CONFLICT DO UPDATE SET
        finished_ms = excluded.finished_ms, address = excluded.address, symbol = excluded.symbol,
        flare = excluded.flare, started = excluded.started, why = excluded.why, cause = excluded.cause,
        bytes = excluded.bytes + coalesce(length(earlier), 0)`,
    ).run(
      id,
      timeOf(finishedAt ?? flare.started_trending_at, nowMs),
      tokenOf(flare),
      token.symbol.toLowerCase(),
      [...texts, outcomeText].reduce((sum, text) => sum + Buffer.byteLength(text), 0),
      ...texts,
      cause,
      outcomeText,
      atMs ?? nowMs,
      groupOf(flare),
    );
    if (outcome) this.#setOutcome({ id, outcome, atMs: atMs ?? nowMs }, nowMs);
    this.#prepare("DELETE FROM start WHERE id = ?").run(id);
  }

  /** Stores an outcome if it changed, and moves the previous one to `earlier`. */
  #setOutcome({ id, outcome, atMs }: FlareOutcome, nowMs: number): void {
    const update = `UPDATE flare SET bytes = bytes - coalesce(length(earlier), 0) + length(?2),
      earlier = outcome, outcome = ?2, outcome_ms = ?3 WHERE id = ?1 AND outcome <> ?2`;
    this.#prepare(update).run(id, JSON.stringify(outcome), atMs ?? nowMs);
  }

  /**
   * Deletes the oldest candles, then the oldest records and starts, until at least this many bytes
   * are free. Returns the end of the last deleted hour of candles; 0 if none.
   */
  #shrink(excess: number, nowMs: number): number {
    const oldest = this.#prepare(
      `SELECT 1 AS rank, 'flare' AS of, id, finished_ms AS at_ms, bytes FROM flare
        UNION ALL SELECT 1, 'start', id, at_ms, bytes FROM start
        UNION ALL SELECT 0, 'candle', id, hour_ms, bytes FROM candle ORDER BY rank, at_ms, id`,
    );
    const expired: Row[] = [];
    const flares: string[] = [];
    let candlesMs = 0;
    let left = excess;
    for (const row of oldest.iterate()) {
      if (left <= 0) break;
      left -= Number(row.bytes);
      expired.push(row);
      if (row.of === "candle") candlesMs = Number(row.at_ms) + HOUR_MS;
      else if (row.of === "flare") flares.push(String(row.id));
    }
    for (const id of flares) this.#expired.note(nowMs, "id = ?2", id);
    for (const { of, id } of expired) if (id) this.#prepare(`DELETE FROM ${of} WHERE id = ?`).run(id);
    return candlesMs;
  }

  #get(sql: string, ...values: (string | number)[]): Row | undefined {
    return this.#prepare(sql).get(...values);
  }
}

/** Returns `nowMs` for an invalid time, or one before 1970, which other services may send. */
function timeOf(text: string, nowMs: number): number {
  const ms = Date.parse(text);
  return ms >= 0 ? ms : nowMs;
}

/** Returns the outcome as it was known at `knownMs`, as JSON. */
function outcomeOf({ outcome, earlier, outcome_ms }: Row, knownMs = NOW): string {
  return String(Number(outcome_ms) > knownMs ? earlier : outcome);
}

function readRecord(row: Row, knownMs: number | undefined): StoredRecord {
  const { id, finished_ms, flare, started, why, cause } = row;
  const outcome = outcomeOf(row, knownMs);
  const body = `{"flare":${flare},"started":${started},"why":${why},"cause":${JSON.stringify(cause)},"outcome":${outcome}}`;
  return { key: { finishedMs: Number(finished_ms), id: String(id) }, body };
}

function readOutcome(row: Row, knownMs: number | undefined): StoredOutcome {
  const { id, finished_ms, started_at } = row;
  const key = { finishedMs: Number(finished_ms), id: String(id) };
  const startedMs = Date.parse(String(started_at));
  return { key, startedMs, outcome: JSON.parse(outcomeOf(row, knownMs)) as Outcome | null };
}
