import type { DatabaseSync, SQLOutputValue } from "node:sqlite";
import { setImmediate as turn } from "node:timers/promises";
import { cachedStatements, openStore, type Statement, transact } from "../../base/lib/io/sqlite.ts";
import { MINUTE_MS } from "../../base/lib/time/time.ts";
import type { Epoch, SourceState } from "../../base/protocol/index.ts";
import type { StoreLimits } from "./history-records.ts";
import type { PackedMinute } from "./minute-text.ts";

/** A state and the minutes, such as 12:34:00, at which it was served. Times are event time. */
export interface MinuteState {
  /** The first of these minutes, in milliseconds since 1970 UTC. */
  readonly firstMs: number;
  /** The last of these minutes. */
  readonly lastMs: number;
  readonly observedAtMs: number;
  /** After this time, the source was silent or failing. At least {@link observedAtMs}. */
  readonly aliveMs: number;
  /** The state of the source after {@link aliveMs}. */
  readonly sourceState: SourceState;
  readonly cursor: string;
}

interface NewMinute {
  readonly state: MinuteState;
  readonly body: Uint8Array;
  /**
   * The id of a stored keyframe, or the compressed text of a new one. A keyframe is a state that
   * later minutes use as their compression dictionary.
   */
  readonly keyframe: number | Uint8Array;
}

/** The stored minutes, which may have gaps. */
export interface MinuteRange {
  readonly oldestMs: number;
  readonly newestMs: number;
}

/** Minutes deleted in one transaction, which takes a few milliseconds. */
const PAGE = 200;

const FORM = {
  /** `FLWM`. */
  applicationId: 0x464c574d,
  version: 1,
  tables: `
  CREATE TABLE keyframe (id INTEGER PRIMARY KEY AUTOINCREMENT, body BLOB NOT NULL) STRICT;
  CREATE TABLE minute (first_ms INTEGER PRIMARY KEY, last_ms INTEGER NOT NULL, observed_ms INTEGER NOT NULL,
    alive_ms INTEGER NOT NULL, state TEXT NOT NULL, cursor TEXT NOT NULL, keyframe INTEGER NOT NULL,
    body BLOB NOT NULL) STRICT;
  CREATE INDEX by_keyframe ON minute (keyframe);
`,
};

/** Opens the file at `path`, or memory. Throws if it is unusable or another program's. */
export function openMinuteStore(limits: StoreLimits, path?: string): MinuteStore {
  return openStore(path, FORM, (db) => {
    // No flush to disk per minute: a power cut loses the last minutes, a killed process none.
    db.exec("PRAGMA synchronous = NORMAL");
    return new MinuteStore(db, limits);
  });
}

/** Snapshots by minute, bounded by age and bytes: the oldest expire first. */
export class MinuteStore {
  readonly #db: DatabaseSync;
  readonly #limits: StoreLimits;
  readonly #prepare: (sql: string) => Statement;
  #bytes: number;
  #version = 0;

  constructor(db: DatabaseSync, limits: StoreLimits) {
    this.#db = db;
    this.#limits = limits;
    this.#prepare = cachedStatements(db);
    this.#bytes = this.#measure();
  }

  get size(): { readonly minutes: number; readonly bytes: number } {
    const row = this.#prepare("SELECT count(*) AS count FROM minute").get();
    return { minutes: Number(row?.count), bytes: this.#bytes };
  }

  get range(): MinuteRange | undefined {
    // Read both ends by the key, so that a month of minutes is not scanned.
    const row = this.#prepare(
      `SELECT first_ms AS oldest, (SELECT last_ms FROM minute ORDER BY first_ms DESC LIMIT 1) AS newest
        FROM minute ORDER BY first_ms LIMIT 1`,
    ).get();
    return row && { oldestMs: Number(row.oldest), newestMs: Number(row.newest) };
  }

  /** Changes when stored minutes are replaced or expire, and when the first minute is stored. */
  get version(): number {
    return this.#version;
  }

  /**
   * Stores a state in place of all minutes from its `firstMs` on, then deletes the oldest beyond
   * the limits. Returns the keyframe's id; `undefined` if a keyframe given by its id is no longer
   * stored. In that case, the caller must insert the minute again with a new keyframe.
   */
  insert({ state, body, keyframe }: NewMinute): number | undefined {
    const { firstMs, lastMs, observedAtMs, aliveMs, sourceState, cursor } = state;
    return this.#transact(() => {
      this.#delete("first_ms >= ?", firstMs);
      // Found by its key: scanning a month would read hundreds of megabytes each minute.
      const newest = "first_ms = (SELECT max(first_ms) FROM minute)";
      const end = `UPDATE minute SET last_ms = ?2 WHERE ${newest} AND last_ms >= ?1`;
      this.#version += Number(this.#prepare(end).run(firstMs, firstMs - MINUTE_MS).changes);
      const id =
        typeof keyframe === "number" ? this.#knownKeyframe(keyframe) : this.#insertKeyframe(keyframe);
      if (id === undefined) return undefined;
      if (!this.#prepare("SELECT 1 FROM minute LIMIT 1").get()) this.#version += 1;
      this.#prepare("INSERT INTO minute VALUES (?, ?, ?, ?, ?, ?, ?, ?)").run(
        ...[firstMs, lastMs, observedAtMs, aliveMs, sourceState, cursor, id, body],
      );
      this.#bytes += body.length;
      this.#delete("first_ms < ?1 AND last_ms < ?1", lastMs - this.#limits.maxAgeMs);
      while (this.#bytes > this.#limits.maxBytes) {
        if (this.#delete("first_ms = (SELECT min(first_ms) FROM minute)") === 0) break;
      }
      return id;
    });
  }

  find(atMs: number): (MinuteState & PackedMinute) | undefined {
    const row = this.#prepare(
      `SELECT minute.*, keyframe.body AS keyframe_body FROM minute JOIN keyframe ON id = keyframe
        WHERE first_ms <= ? ORDER BY first_ms DESC LIMIT 1`,
    ).get(atMs);
    return row && Number(row.last_ms) >= atMs ? readMinute(row) : undefined;
  }

  /** Deletes the minutes of all other epochs, in pages: other work runs in between. */
  async keepOnly(epoch: Epoch): Promise<void> {
    const others = "first_ms IN (SELECT first_ms FROM minute WHERE cursor NOT LIKE ? LIMIT ?)";
    const deletePage = () => this.#transact(() => this.#delete(others, `${epoch}-%`, PAGE));
    while (deletePage() === PAGE) await turn();
  }

  close(): void {
    this.#db.close();
  }

  #transact<T>(work: () => T): T {
    try {
      return transact(this.#db, work);
    } catch (error) {
      // The rollback undid changes that #bytes already counts.
      this.#bytes = this.#measure();
      throw error;
    }
  }

  #knownKeyframe(id: number): number | undefined {
    return this.#prepare("SELECT 1 FROM keyframe WHERE id = ?").get(id) && id;
  }

  #insertKeyframe(body: Uint8Array): number {
    this.#bytes += body.length;
    return Number(this.#prepare("INSERT INTO keyframe (body) VALUES (?)").run(body).lastInsertRowid);
  }

  /**
   * Deletes minutes, and the keyframes that no other minute needs. Returns the number of minutes.
   */
  #delete(condition: string, ...values: (number | string)[]): number {
    const deleted = this.#prepare(
      `DELETE FROM minute WHERE ${condition} RETURNING keyframe, length(body) AS bytes`,
    ).all(...values);
    const unused =
      "DELETE FROM keyframe WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM minute WHERE keyframe = ?1) RETURNING length(body) AS bytes";
    const ids = new Set(deleted.map(({ keyframe }) => Number(keyframe)));
    const keyframes = [...ids].flatMap((id) => this.#prepare(unused).all(id));
    for (const { bytes } of [...deleted, ...keyframes]) this.#bytes -= Number(bytes);
    this.#version += deleted.length;
    return deleted.length;
  }

  #measure(): number {
    const total =
      "SELECT total(bytes) AS bytes FROM (SELECT length(body) AS bytes FROM minute UNION ALL SELECT length(body) FROM keyframe)";
    return Number(this.#prepare(total).get()?.bytes);
  }
}

function readMinute(row: Readonly<Record<string, SQLOutputValue>>): MinuteState & PackedMinute {
  return {
    firstMs: Number(row.first_ms),
    lastMs: Number(row.last_ms),
    observedAtMs: Number(row.observed_ms),
    aliveMs: Number(row.alive_ms),
    sourceState: row.state as SourceState,
    cursor: String(row.cursor),
    keyframeId: Number(row.keyframe),
    keyframe: row.keyframe_body as Uint8Array,
    body: row.body as Uint8Array,
  };
}
