import type { DatabaseSync, SQLOutputValue } from "node:sqlite";
import { cachedStatements, openDatabase, type Statement, transact } from "../../lib/io/sqlite.ts";
import type { Alert } from "../alert.ts";
import { NEW_RULE, type RuleState } from "../rules/rule-state.ts";
import type { AlertStore, Expired, RulePosition } from "./alert-store.ts";

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

/** Makes the search for expired messages free while there are none. It runs before each message. */
const AGED = "CREATE INDEX IF NOT EXISTS aged ON alert (webhook, made_at_ms)";

/** Opens the file at `path`, or memory. Throws if it is unusable or not ours; never replaces it. */
export function openSqliteAlertStore(path?: string): AlertStore {
  return new SqliteAlertStore(openAlertDatabase(path));
}

/** Opens the store's database: see {@link openSqliteAlertStore}. */
export function openAlertDatabase(path?: string): DatabaseSync {
  const db = openDatabase(path, FORM);
  try {
    db.exec(`${AGED}; ${NOTICE}`);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

type Row = Record<string, SQLOutputValue>;

/** Alerts in an open database, which it closes. */
export class SqliteAlertStore implements AlertStore {
  readonly #db: DatabaseSync;
  readonly #prepare: (sql: string) => Statement;

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#prepare = cachedStatements(db);
  }

  position(rule: string): RulePosition | undefined {
    const row = this.#get("SELECT cursor, state FROM place WHERE rule = ?", rule);
    return row && { cursor: String(row.cursor), state: readState(String(row.state)) };
  }

  commit(rule: string, { cursor, state }: RulePosition, alerts: readonly Alert[]): void {
    transact(this.#db, () => {
      const upsert = "INSERT OR REPLACE INTO place VALUES (?, ?, ?)";
      this.#prepare(upsert).run(rule, cursor, JSON.stringify(state));
      const append = this.#prepare(
        "INSERT INTO alert (id, webhook, made_at_ms, body) VALUES (?, ?, ?, ?) ON CONFLICT (webhook, id) DO NOTHING",
      );
      for (const { id, webhook, madeAtMs, body } of alerts) append.run(id, webhook, madeAtMs, body);
    });
  }

  together(work: () => void): void {
    transact(this.#db, work);
  }

  first(webhook: string): Alert | undefined {
    const row = this.#get(
      "SELECT id, made_at_ms, body FROM alert WHERE webhook = ? ORDER BY at LIMIT 1",
      webhook,
    );
    return row && readAlert(webhook, row);
  }

  remove({ webhook, id }: Alert): void {
    this.#prepare("DELETE FROM alert WHERE webhook = ? AND id = ?").run(webhook, id);
  }

  expire(webhook: string, beforeMs: number, maxCount: number): number {
    const last = this.#get(
      `SELECT max(at) AS at FROM (
        SELECT at FROM alert WHERE webhook = ?1 AND made_at_ms < ?2
        UNION ALL SELECT * FROM (SELECT at FROM alert WHERE webhook = ?1 ORDER BY at DESC LIMIT 1 OFFSET ?3))`,
      webhook,
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
      note.run(webhook, Number(last));
      return Number(this.#prepare(`DELETE ${those}`).run(webhook, Number(last)).changes);
    });
  }

  expired(webhook: string): Expired | undefined {
    const row = this.#get("SELECT count, first_ms, last_ms FROM expired WHERE webhook = ?", webhook);
    return (
      row && {
        count: Number(row.count),
        firstMadeAtMs: Number(row.first_ms),
        lastMadeAtMs: Number(row.last_ms),
      }
    );
  }

  announce({ webhook, id, madeAtMs, body }: Alert): void {
    transact(this.#db, () => {
      this.#prepare("INSERT OR REPLACE INTO notice VALUES (?, ?, ?, ?)").run(webhook, id, madeAtMs, body);
      this.#prepare("DELETE FROM expired WHERE webhook = ?").run(webhook);
    });
  }

  notice(webhook: string): Alert | undefined {
    const row = this.#get("SELECT id, made_at_ms, body FROM notice WHERE webhook = ?", webhook);
    return row && readAlert(webhook, row);
  }

  forgetNotice(webhook: string): void {
    this.#prepare("DELETE FROM notice WHERE webhook = ?").run(webhook);
  }

  waiting(webhook: string): { readonly count: number; readonly oldestMadeAtMs: number | undefined } {
    const row = this.#get("SELECT count(*) AS count FROM alert WHERE webhook = ?", webhook);
    return { count: Number(row?.count), oldestMadeAtMs: this.first(webhook)?.madeAtMs };
  }

  disabled(webhook: string): string | undefined {
    const row = this.#get("SELECT mark FROM disabled WHERE webhook = ?", webhook);
    return row && String(row.mark);
  }

  disable(webhook: string, mark: string | undefined): void {
    transact(this.#db, () => {
      this.#prepare("DELETE FROM alert WHERE webhook = ?").run(webhook);
      this.#prepare("DELETE FROM expired WHERE webhook = ?").run(webhook);
      this.forgetNotice(webhook);
      this.#prepare("DELETE FROM disabled WHERE webhook = ?").run(webhook);
      if (mark !== undefined) this.#prepare("INSERT INTO disabled VALUES (?, ?)").run(webhook, mark);
    });
  }

  retain(rules: ReadonlySet<string>, webhooks: ReadonlySet<string>): void {
    const forget = (table: string, column: string, wanted: ReadonlySet<string>) => {
      const names = this.#prepare(`SELECT DISTINCT ${column} AS name FROM ${table}`).all();
      const drop = this.#prepare(`DELETE FROM ${table} WHERE ${column} = ?`);
      for (const { name } of names) if (!wanted.has(String(name))) drop.run(String(name));
    };
    transact(this.#db, () => {
      forget("place", "rule", rules);
      forget("alert", "webhook", webhooks);
      forget("expired", "webhook", webhooks);
      forget("notice", "webhook", webhooks);
      forget("disabled", "webhook", webhooks);
    });
  }

  close(): void {
    this.#db.close();
  }

  #get(sql: string, ...values: (string | number)[]): Row | undefined {
    return this.#prepare(sql).get(...values);
  }
}

function readAlert(webhook: string, row: Row): Alert {
  return { id: String(row.id), webhook, madeAtMs: Number(row.made_at_ms), body: String(row.body) };
}

/** Starts over if the state has an unknown form. */
function readState(text: string): RuleState {
  const parsed: unknown = JSON.parse(text);
  const isState = typeof parsed === "object" && parsed !== null && "quiet" in parsed && "begun" in parsed;
  return isState ? (parsed as RuleState) : NEW_RULE;
}
