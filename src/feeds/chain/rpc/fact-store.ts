import { renameSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import {
  cachedStatements,
  DamagedError,
  openDatabase,
  type Statement,
  transact,
} from "../../../base/lib/io/sqlite.ts";
import type { Notify } from "../../../base/lib/notify.ts";
import { messageOf } from "../../../base/lib/text/message-of.ts";
import type { Clock } from "../../../base/lib/time/clock.ts";
import { DAY_MS } from "../../../base/lib/time/time.ts";

const TABLES = `CREATE TABLE fact (at INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE,
  value TEXT NOT NULL, confirmed_at INTEGER NOT NULL) STRICT`;
const FORM = {
  /** `FLWC`. */
  applicationId: 0x464c5743,
  version: 2,
  tables: TABLES,
  // In version 1, no second endpoint confirmed the facts.
  upgrades: { 1: `DROP TABLE fact; ${TABLES}` },
};
/** About 60 MB on disk. */
const MAX_FACTS = 200_000;
/** Older facts are requested again, because a contract may change its name. */
const MAX_AGE_MS = 30 * DAY_MS;
/** SQLITE_CORRUPT and SQLITE_NOTADB: https://www.sqlite.org/rescode.html */
const DAMAGED: ReadonlySet<unknown> = new Set([11, 26]);

/**
 * Stores facts about contracts that hardly ever change, so that a restart does not request them
 * again. Drops facts after thirty days, and the oldest beyond a maximum. Renames a file that is
 * damaged, of another program or of an unknown version, and starts a new one. If that fails, or the
 * file cannot be used for another reason, reports that and uses memory instead, because a cache
 * must never cause a failure.
 */
export class FactStore {
  readonly #notify: Notify;
  readonly #clock: Clock;
  #db: DatabaseSync;
  #prepare: (sql: string) => Statement;
  #isClosed = false;

  /** @param path The database file; `undefined`: memory only. */
  constructor(path: string | undefined, clock: Clock, notify: Notify) {
    this.#clock = clock;
    this.#notify = notify;
    this.#db = this.#open(path);
    this.#prepare = cachedStatements(this.#db);
  }

  /** Returns a fact as parsed JSON; `undefined` if it is unknown or too old. */
  get(key: string): unknown {
    return this.#attempt(() => {
      const row = this.#prepare("SELECT value FROM fact WHERE key = ? AND confirmed_at > ?").get(
        key,
        this.#clock.now() - MAX_AGE_MS,
      );
      return row && JSON.parse(String(row.value));
    });
  }

  /** Stores confirmed facts. Stores big integers as text. */
  set(facts: ReadonlyMap<string, unknown>): void {
    if (facts.size === 0) return;
    const json = (value: unknown) =>
      JSON.stringify(value, (_, part) => (typeof part === "bigint" ? String(part) : part));
    this.#attempt(() =>
      transact(this.#db, () => {
        const insert = this.#prepare(
          "INSERT OR REPLACE INTO fact (key, value, confirmed_at) VALUES (?, ?, ?)",
        );
        for (const [key, value] of facts) insert.run(key, json(value), this.#clock.now());
        this.#prepare("DELETE FROM fact WHERE at <= (SELECT max(at) FROM fact) - ?").run(MAX_FACTS);
      }),
    );
  }

  close(): void {
    if (!this.#isClosed) this.#attempt(() => this.#db.close());
    this.#isClosed = true;
  }

  #open(path: string | undefined): DatabaseSync {
    try {
      return openDatabase(path, FORM);
    } catch (error) {
      if (path === undefined) throw error;
      const isDamaged =
        error instanceof DamagedError ||
        (error instanceof Error && "errcode" in error && DAMAGED.has(error.errcode));
      const replacement = isDamaged ? replace(path) : undefined;
      const remedy = replacement ? `renamed it to ${path}.damaged and started a new one` : "using memory";
      this.#notify(
        "warn",
        `cannot use the file of pools and tokens, ${path}; ${remedy}: ${messageOf(error)}`,
      );
      return replacement ?? openDatabase(undefined, FORM);
    }
  }

  /**
   * Returns what `work` returns. If it throws, reports that, closes the file, continues in memory
   * and returns `undefined`.
   */
  #attempt<T>(work: () => T): T | undefined {
    // A lookup may finish after the feed has closed this store.
    if (this.#isClosed) return undefined;
    try {
      return work();
    } catch (error) {
      this.#notify("warn", `the file of pools and tokens failed; using memory: ${messageOf(error)}`);
      try {
        this.#db.close();
      } catch {
        // It was closed already, or cannot be.
      }
      this.#db = openDatabase(undefined, FORM);
      this.#prepare = cachedStatements(this.#db);
      return undefined;
    }
  }
}

/** Renames a file and creates a new one; `undefined` if either fails. */
function replace(path: string): DatabaseSync | undefined {
  try {
    renameSync(path, `${path}.damaged`);
    return openDatabase(path, FORM);
  } catch {
    return undefined;
  }
}
