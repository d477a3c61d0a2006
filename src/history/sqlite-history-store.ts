import type { DatabaseSync, SQLOutputValue, StatementSync } from "node:sqlite";
import { cachedStatements, openDatabase, transact } from "../lib/io/sqlite.ts";
import type { Candle, Explanation, Outcome } from "../model/index.ts";
import { CANDLE_TABLE, CandleTable } from "./candle-table.ts";
import type {
  CandleQuery,
  FlareFinish,
  FlareOutcome,
  FlareStart,
  HistoryBatch,
  HistoryQuery,
  HistoryStore,
  StoredOutcome,
  StoredRecord,
} from "./history-store.ts";

const FORM = {
  /** `FLWH`. */
  applicationId: 0x464c5748,
  version: 3,
  upgrades: {
    1: `ALTER TABLE flare ADD COLUMN outcome TEXT NOT NULL DEFAULT 'null'; ${CANDLE_TABLE}`,
    2: CANDLE_TABLE,
  },
  tables: `
  CREATE TABLE position (one INTEGER PRIMARY KEY CHECK (one = 1), cursor TEXT NOT NULL) STRICT;
  CREATE TABLE start (id TEXT PRIMARY KEY, at_ms INTEGER NOT NULL, bytes INTEGER NOT NULL, why TEXT NOT NULL) STRICT;
  CREATE TABLE flare (id TEXT PRIMARY KEY, finished_ms INTEGER NOT NULL, address TEXT NOT NULL, symbol TEXT NOT NULL,
    bytes INTEGER NOT NULL, flare TEXT NOT NULL, started TEXT NOT NULL, why TEXT NOT NULL, cause TEXT NOT NULL,
    outcome TEXT NOT NULL) STRICT;
  CREATE INDEX oldest_start ON start (at_ms, id, bytes);
  CREATE INDEX newest ON flare (finished_ms, id, bytes);
  CREATE INDEX by_address ON flare (address, finished_ms, id);
  CREATE INDEX by_symbol ON flare (symbol, finished_ms, id);
  ${CANDLE_TABLE}
`,
};

/** The tables that count, in the order in which they expire for bytes. */
const COUNTED = ["candle", "flare", "start"];

/** Sums the rows' bytes with each change. A rollback takes that back too. */
const SIZE = `
  PRAGMA temp_store = MEMORY;
  PRAGMA recursive_triggers = ON;
  CREATE TEMP TABLE size (bytes INTEGER NOT NULL) STRICT;
  INSERT INTO size SELECT CAST(total(bytes) AS INTEGER)
    FROM (${COUNTED.map((table) => `SELECT bytes FROM ${table}`).join(" UNION ALL ")});
  ${COUNTED.map(countChanges).join("")}
`;

function countChanges(table: string): string {
  const on = (change: string, bytes: string) =>
    `CREATE TEMP TRIGGER ${change}_${table} AFTER ${change} ON main.${table} BEGIN UPDATE size SET bytes = bytes + ${bytes}; END;`;
  return on("INSERT", "new.bytes") + on("DELETE", "-old.bytes") + on("UPDATE", "new.bytes - old.bytes");
}

interface HistoryLimits {
  /** How long a flare is stored after its finish, in event time. */
  readonly maxAgeMs: number;
  readonly maxBytes: number;
}

/** Opens the file at `path`, or memory. Throws if it is unusable or not ours; never replaces it. */
export function openSqliteHistoryStore(limits: HistoryLimits, path?: string): HistoryStore {
  const db = openDatabase(path, FORM);
  try {
    // Without a flush to disk per commit. What a power cut loses is read from the log again.
    db.exec(`PRAGMA synchronous = NORMAL; ${SIZE}`);
    return new SqliteHistoryStore(db, limits);
  } catch (error) {
    db.close();
    throw error;
  }
}

type Row = Record<string, SQLOutputValue>;

class SqliteHistoryStore implements HistoryStore {
  readonly #db: DatabaseSync;
  readonly #limits: HistoryLimits;
  readonly #prepare: (sql: string) => StatementSync;
  readonly #candles: CandleTable;
  #flaresVersion = 0;

  constructor(db: DatabaseSync, limits: HistoryLimits) {
    this.#db = db;
    this.#prepare = cachedStatements(db);
    this.#limits = limits;
    this.#candles = new CandleTable(db);
  }

  get cursor(): string | undefined {
    const row = this.#get("SELECT cursor FROM position");
    return row && String(row.cursor);
  }

  get size(): { readonly flares: number; readonly bytes: number } {
    const counts = this.#get("SELECT (SELECT count(*) FROM flare) AS flares, bytes FROM size");
    return { flares: Number(counts?.flares), bytes: Number(counts?.bytes) };
  }

  get flaresVersion(): number {
    return this.#flaresVersion;
  }

  commit({ cursor, nowMs, starts, finishes, outcomes, candles = [] }: HistoryBatch): void {
    transact(this.#db, () => {
      for (const start of starts) this.#start(start, nowMs);
      for (const finish of finishes) this.#finish(finish, nowMs);
      for (const outcome of outcomes) this.#setOutcome(outcome);
      for (const { group, address, candles: own } of candles) this.#candles.put(group, address, own);
      const oldestMs = nowMs - this.#limits.maxAgeMs;
      this.#prepare("DELETE FROM start WHERE at_ms < ?").run(oldestMs);
      const { changes } = this.#prepare("DELETE FROM flare WHERE finished_ms < ?").run(oldestMs);
      this.#candles.expire(oldestMs);
      const excess = this.size.bytes - this.#limits.maxBytes;
      if (excess > 0) this.#shrink(excess);
      this.#prepare("INSERT OR REPLACE INTO position VALUES (1, ?)").run(cursor);
      const isChanged = starts.length + finishes.length + outcomes.length > 0 || Number(changes) > 0;
      if (isChanged || excess > 0) this.#flaresVersion += 1;
    });
  }

  started(id: string): Explanation | null | undefined {
    const row = this.#get("SELECT why FROM start WHERE id = ?", id);
    return row && parseWhy(String(row.why));
  }

  find(id: string): StoredRecord | undefined {
    const row = this.#get("SELECT * FROM flare WHERE id = ?", id);
    return row && readRecord(row);
  }

  page(query: HistoryQuery): readonly StoredRecord[] {
    return this.#select("finished_ms, id, flare, started, why, cause, outcome", query).map(readRecord);
  }

  outcomes(query: HistoryQuery): readonly StoredOutcome[] {
    return this.#select("finished_ms, id, flare ->> 'started_trending_at' AS started_at, outcome", query).map(
      readOutcome,
    );
  }

  #select(columns: string, { fromMs, toMs, address, symbol, after, limit }: HistoryQuery): readonly Row[] {
    const wanted: (readonly [condition: string, ...values: (string | number)[]])[] = [];
    if (fromMs !== undefined) wanted.push(["finished_ms >= ?", fromMs]);
    if (toMs !== undefined) wanted.push(["finished_ms <= ?", toMs]);
    if (address !== undefined) wanted.push(["address = ?", address.toLowerCase()]);
    if (symbol !== undefined) wanted.push(["symbol = ?", symbol.toLowerCase()]);
    if (after !== undefined) wanted.push(["(finished_ms, id) < (?, ?)", after.finishedMs, after.id]);
    const where = wanted.length === 0 ? "" : `WHERE ${wanted.map(([condition]) => condition).join(" AND ")}`;
    const values = wanted.flatMap(([, ...bound]) => bound);
    const sql = `SELECT ${columns} FROM flare ${where} ORDER BY finished_ms DESC, id DESC LIMIT ?`;
    return this.#prepare(sql).all(...values, limit);
  }

  candles(query: CandleQuery): readonly Candle[] {
    return this.#candles.find(query);
  }

  addressesOf(symbol: string, limit: number): readonly string[] {
    const select = "SELECT DISTINCT address FROM flare WHERE symbol = ? ORDER BY address LIMIT ?";
    return this.#prepare(select)
      .all(symbol.toLowerCase(), limit)
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

  /** Stores the flare with its start, also that of an earlier finish of the same flare. */
  #finish({ flare, why, cause, outcome }: FlareFinish, nowMs: number): void {
    const { id, token, finished_trending_at: finishedAt } = flare;
    const known = this.#get(
      "SELECT why, 'null' AS outcome FROM start WHERE id = ?1 UNION ALL SELECT started, outcome FROM flare WHERE id = ?1 LIMIT 1",
      id,
    );
    const [started, stored] = known ? [String(known.why), String(known.outcome)] : ["null", "null"];
    const texts = [JSON.stringify(flare), started, JSON.stringify(why)];
    const outcomeText = outcome ? JSON.stringify(outcome) : stored;
    this.#prepare("INSERT OR REPLACE INTO flare VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)").run(
      id,
      timeOf(finishedAt ?? flare.started_trending_at, nowMs),
      token.address.toLowerCase(),
      token.symbol.toLowerCase(),
      [...texts, outcomeText].reduce((sum, text) => sum + Buffer.byteLength(text), 0),
      ...texts,
      cause,
      outcomeText,
    );
    this.#prepare("DELETE FROM start WHERE id = ?").run(id);
  }

  #setOutcome({ id, outcome }: FlareOutcome): void {
    const update =
      "UPDATE flare SET bytes = bytes - length(outcome) + length(?2), outcome = ?2 WHERE id = ?1";
    this.#prepare(update).run(id, JSON.stringify(outcome));
  }

  /** Deletes the oldest candles, then the oldest records and starts, up to this number of bytes. */
  #shrink(excess: number): void {
    const oldest = this.#prepare(
      `SELECT 1 AS rank, 'flare' AS of, id, finished_ms AS at_ms, bytes FROM flare
        UNION ALL SELECT 1, 'start', id, at_ms, bytes FROM start
        UNION ALL SELECT 0, 'candle', id, hour_ms, bytes FROM candle ORDER BY rank, at_ms, id`,
    );
    const expired: Row[] = [];
    let left = excess;
    for (const row of oldest.iterate()) {
      if (left <= 0) break;
      left -= Number(row.bytes);
      expired.push(row);
    }
    for (const { of, id } of expired) if (id) this.#prepare(`DELETE FROM ${of} WHERE id = ?`).run(id);
  }

  #get(sql: string, ...values: (string | number)[]): Row | undefined {
    return this.#prepare(sql).get(...values);
  }
}

/** Another service may send a time that does not exist, or one before 1970: then it is now. */
function timeOf(text: string, nowMs: number): number {
  const ms = Date.parse(text);
  return ms >= 0 ? ms : nowMs;
}

function readRecord({ id, finished_ms, flare, started, why, cause, outcome }: Row): StoredRecord {
  const body = `{"flare":${flare},"started":${started},"why":${why},"cause":${JSON.stringify(cause)},"outcome":${outcome}}`;
  return { key: { finishedMs: Number(finished_ms), id: String(id) }, body };
}

function readOutcome({ id, finished_ms, started_at, outcome }: Row): StoredOutcome {
  const key = { finishedMs: Number(finished_ms), id: String(id) };
  const startedMs = Date.parse(String(started_at));
  return { key, startedMs, outcome: JSON.parse(String(outcome)) as Outcome | null };
}

function parseWhy(text: string): Explanation | null {
  return JSON.parse(text) as Explanation | null;
}
