import type { DatabaseSync, SQLOutputValue } from "node:sqlite";
import { cachedStatements, openStore, type Statement, transact } from "../../../base/lib/io/sqlite.ts";
import type { Notify } from "../../../base/lib/notify.ts";
import { parseJson } from "../../../base/lib/parse-json.ts";
import type { Alert } from "../alert.ts";
import { NEW_RULE, RuleState } from "../rules/rule-state.ts";

const FORM = {
  /** `FLWA`. */
  applicationId: 0x464c5741,
  version: 1,
  tables: `
  CREATE TABLE place (rule TEXT PRIMARY KEY, cursor TEXT NOT NULL, state TEXT NOT NULL) STRICT;
  CREATE TABLE alert (at INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL, webhook TEXT NOT NULL,
    made_at_ms INTEGER NOT NULL, body TEXT NOT NULL, UNIQUE (webhook, id)) STRICT;
  CREATE INDEX queue ON alert (webhook, at);
  CREATE TABLE expired (webhook TEXT PRIMARY KEY, count INTEGER NOT NULL, first_ms INTEGER NOT NULL, last_ms INTEGER NOT NULL) STRICT;
  CREATE TABLE disabled (webhook TEXT PRIMARY KEY, mark TEXT NOT NULL) STRICT;
`,
};

/** Also created in older stores. Older versions ignore it, and still count dropped messages. */
const NOTICE = `CREATE TABLE IF NOT EXISTS notice (webhook TEXT PRIMARY KEY, id TEXT NOT NULL, made_at_ms INTEGER NOT NULL,
  body TEXT NOT NULL) STRICT`;

/** Also created in older stores. Older versions ignore it, and ask a moved receiver again. */
const MOVED = `CREATE TABLE IF NOT EXISTS moved (webhook TEXT PRIMARY KEY, mark TEXT NOT NULL, address TEXT NOT NULL) STRICT`;

/** Makes the search for expired messages cheap. It runs before each message. */
const AGED = "CREATE INDEX IF NOT EXISTS aged ON alert (webhook, made_at_ms)";

/**
 * Deletes messages that are not JSON: a target would fail on one until it expires, which blocks the
 * next ones.
 */
const DAMAGED = `DELETE FROM alert WHERE NOT json_valid(body) RETURNING webhook, id`;

/**
 * Opens the file at `path`, or memory. Throws if it is unusable or another program's; never
 * replaces it. Removes and reports damaged messages.
 */
export function openAlertStore(path?: string, notify: Notify = () => {}): AlertStore {
  return openStore(path, FORM, (db) => {
    const store = new AlertStore(db);
    for (const { webhook, id } of db.prepare(DAMAGED).all())
      notify("warn", "removed a damaged alert", { target: webhook, alert: id });
    db.exec("DELETE FROM notice WHERE NOT json_valid(body)");
    return store;
  });
}

/** Opens a store in memory. Returns it with its database. */
export function openAlertMemory(): { readonly db: DatabaseSync; readonly store: AlertStore } {
  return openStore(undefined, FORM, (db) => ({ db, store: new AlertStore(db) }));
}

type Row = Record<string, SQLOutputValue>;

export interface RulePosition {
  readonly cursor: string;
  readonly state: RuleState;
}

/** A message in a target's queue. `at`: its position, which grows. */
export interface QueuedAlert {
  readonly at: number;
  readonly alert: Alert;
}

/** Messages of a target that were dropped undelivered. */
interface Expired {
  readonly count: number;
  readonly firstMadeAtMs: number;
  readonly lastMadeAtMs: number;
}

/**
 * Undelivered messages and the rules' positions, in a database that it then owns. A message and the
 * position after its event are stored together, so a rule that resumes neither repeats nor skips an
 * alert.
 */
export class AlertStore {
  readonly #db: DatabaseSync;
  readonly #prepare: (sql: string) => Statement;

  constructor(db: DatabaseSync) {
    db.exec(`${AGED}; ${NOTICE}; ${MOVED}`);
    this.#db = db;
    this.#prepare = cachedStatements(db);
  }

  /** Returns the rule's stored position; `undefined` for a new rule. */
  position(rule: string): RulePosition | undefined {
    const row = this.#get("SELECT cursor, state FROM place WHERE rule = ?", rule);
    if (!row) return undefined;
    // A rule starts over if its state has an unknown form.
    const { data: state = NEW_RULE } = RuleState.safeParse(parseJson(String(row.state)));
    return { cursor: String(row.cursor), state };
  }

  /**
   * Stores the position and queues those messages that are not yet in the queue. Throws on failure,
   * changing nothing.
   */
  commit(rule: string, { cursor, state }: RulePosition, alerts: readonly Alert[]): void {
    transact(this.#db, () => {
      const upsert = "INSERT OR REPLACE INTO place VALUES (?, ?, ?)";
      this.#prepare(upsert).run(rule, cursor, JSON.stringify(state));
      const append = this.#prepare(
        "INSERT INTO alert (id, webhook, made_at_ms, body) VALUES (?, ?, ?, ?) ON CONFLICT (webhook, id) DO NOTHING",
      );
      for (const { id, target, madeAtMs, body } of alerts) append.run(id, target, madeAtMs, body);
    });
  }

  /** Runs `work` in one transaction. If it throws, nothing changes. */
  together(work: () => void): void {
    transact(this.#db, work);
  }

  /** Returns the oldest message of the target's queue, if any. */
  first(target: string): Alert | undefined {
    return this.next(target, 0)?.alert;
  }

  /** Returns the oldest message of the target's queue after a position, if any. */
  next(target: string, after: number): QueuedAlert | undefined {
    const row = this.#get(
      "SELECT at, id, made_at_ms, body FROM alert WHERE webhook = ? AND at > ? ORDER BY at LIMIT 1",
      target,
      after,
    );
    return row && { at: Number(row.at), alert: readAlert(target, row) };
  }

  remove({ target, id }: Alert): void {
    this.#prepare("DELETE FROM alert WHERE webhook = ? AND id = ?").run(target, id);
  }

  /**
   * Drops messages made before `beforeMs` or beyond the newest `maxCount`, and counts them in
   * {@link expired}. Returns how many.
   */
  expire(target: string, beforeMs: number, maxCount: number): number {
    const last = this.#get(
      `SELECT max(at) AS at FROM (
        SELECT at FROM alert WHERE webhook = ?1 AND made_at_ms < ?2
        UNION ALL SELECT * FROM (SELECT at FROM alert WHERE webhook = ?1 ORDER BY at DESC LIMIT 1 OFFSET ?3))`,
      target,
      beforeMs,
      maxCount,
    )?.at;
    if (last === null || last === undefined) return 0;
    const those = "FROM alert WHERE webhook = ?1 AND at <= ?2";
    return transact(this.#db, () => {
      const note = this.#prepare(
        `INSERT INTO expired SELECT ?1, count(*), min(made_at_ms), max(made_at_ms) ${those}
        ON CONFLICT DO UPDATE SET count = count + excluded.count, last_ms = excluded.last_ms`,
      );
      note.run(target, Number(last));
      return Number(this.#prepare(`DELETE ${those}`).run(target, Number(last)).changes);
    });
  }

  /** Summarizes the dropped messages that are not announced yet; `undefined` if there are none. */
  expired(target: string): Expired | undefined {
    const row = this.#get("SELECT count, first_ms, last_ms FROM expired WHERE webhook = ?", target);
    return (
      row && {
        count: Number(row.count),
        firstMadeAtMs: Number(row.first_ms),
        lastMadeAtMs: Number(row.last_ms),
      }
    );
  }

  /** Stores a message about dropped ones until it is acknowledged. Resets {@link expired}. */
  announce({ target, id, madeAtMs, body }: Alert): void {
    transact(this.#db, () => {
      this.#prepare("INSERT OR REPLACE INTO notice VALUES (?, ?, ?, ?)").run(target, id, madeAtMs, body);
      this.#prepare("DELETE FROM expired WHERE webhook = ?").run(target);
    });
  }

  /** Returns the announced message that is not acknowledged yet, if any. */
  notice(target: string): Alert | undefined {
    const row = this.#get("SELECT id, made_at_ms, body FROM notice WHERE webhook = ?", target);
    return row && readAlert(target, row);
  }

  /** Deletes the announced message after its acknowledgement. */
  forgetNotice(target: string): void {
    this.#prepare("DELETE FROM notice WHERE webhook = ?").run(target);
  }

  waiting(target: string): { readonly count: number; readonly oldestMadeAtMs: number | undefined } {
    const row = this.#get("SELECT count(*) AS count FROM alert WHERE webhook = ?", target);
    return { count: Number(row?.count), oldestMadeAtMs: this.first(target)?.madeAtMs };
  }

  /** Returns the mark with which the target was disabled; `undefined` if it is enabled. */
  disabled(target: string): string | undefined {
    const row = this.#get("SELECT mark FROM disabled WHERE webhook = ?", target);
    return row && String(row.mark);
  }

  /** Returns where the target with this mark has moved to; `undefined` if it has not. */
  movedTo(target: string, mark: string): string | undefined {
    const row = this.#get("SELECT address FROM moved WHERE webhook = ? AND mark = ?", target, mark);
    return row && String(row.address);
  }

  move(target: string, mark: string, address: string): void {
    this.#prepare("INSERT OR REPLACE INTO moved VALUES (?, ?, ?)").run(target, mark, address);
  }

  /** Empties the target's queue. Disables the target with `mark`, or enables it if `undefined`. */
  disable(target: string, mark: string | undefined): void {
    transact(this.#db, () => {
      this.#prepare("DELETE FROM alert WHERE webhook = ?").run(target);
      this.#prepare("DELETE FROM expired WHERE webhook = ?").run(target);
      this.forgetNotice(target);
      this.#prepare("DELETE FROM disabled WHERE webhook = ?").run(target);
      if (mark !== undefined) this.#prepare("INSERT INTO disabled VALUES (?, ?)").run(target, mark);
    });
  }

  /** Deletes the positions of all other rules, and all data of all other targets. */
  retain(rules: ReadonlySet<string>, targets: ReadonlySet<string>): void {
    const forget = (table: string, column: string, wanted: ReadonlySet<string>) => {
      const names = this.#prepare(`SELECT DISTINCT ${column} AS name FROM ${table}`).all();
      const drop = this.#prepare(`DELETE FROM ${table} WHERE ${column} = ?`);
      for (const { name } of names) if (!wanted.has(String(name))) drop.run(String(name));
    };
    transact(this.#db, () => {
      forget("place", "rule", rules);
      forget("alert", "webhook", targets);
      forget("expired", "webhook", targets);
      forget("notice", "webhook", targets);
      forget("disabled", "webhook", targets);
      forget("moved", "webhook", targets);
    });
  }

  close(): void {
    this.#db.close();
  }

  #get(sql: string, ...values: (string | number)[]): Row | undefined {
    return this.#prepare(sql).get(...values);
  }
}

function readAlert(target: string, row: Row): Alert {
  return { id: String(row.id), target, madeAtMs: Number(row.made_at_ms), body: String(row.body) };
}
