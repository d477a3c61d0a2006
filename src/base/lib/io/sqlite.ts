import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { makePrivateFile } from "./private-file.ts";

interface DatabaseSchema {
  /** In SQLite's file header. */
  readonly applicationId: number;
  /** Version of the tables. Increase it whenever they change their meaning. */
  readonly version: number;
  readonly tables: string;
  /** Statements that bring an earlier version to this one. */
  readonly upgrades?: Readonly<Record<number, string>>;
}

/**
 * The file belongs to another program, has an unsupported version, or holds what Flarewire would
 * not have written.
 */
export class DamagedError extends Error {
  readonly failure = "damaged";
}

/**
 * Opens or creates a database and locks it for this process; without a path, in memory. Each
 * transaction is on disk when it ends. Throws {@link DamagedError}, before any change, if the
 * database is not ours, or if its check finds damage. If SQLite cannot even read it, throws
 * SQLite's error.
 */
export function openDatabase(path: string | undefined, schema: DatabaseSchema): DatabaseSync {
  return openStore(path, schema, (db) => db);
}

/**
 * Opens a database like {@link openDatabase}, and calls `open` for a store in it. Closes it if that
 * throws.
 */
export function openStore<T>(
  path: string | undefined,
  schema: DatabaseSchema,
  open: (db: DatabaseSync) => T,
): T {
  if (path !== undefined) makePrivateFile(path);
  const db = new DatabaseSync(path ?? ":memory:");
  try {
    db.exec("PRAGMA locking_mode = EXCLUSIVE");
    const isNew = read(db, "schema_version") === 0;
    if (!isNew) check(db, schema);
    db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
    if (isNew) change(db, `${schema.tables}; PRAGMA application_id = ${schema.applicationId}`, schema);
    return open(db);
  } catch (error) {
    db.close();
    throw error;
  }
}

function check(db: DatabaseSync, schema: DatabaseSchema): void {
  if (read(db, "application_id") !== schema.applicationId)
    throw new DamagedError("it is another program's database");
  const version = Number(read(db, "user_version"));
  const upgrade = schema.upgrades?.[version];
  if (upgrade === undefined && version !== schema.version)
    throw new DamagedError(`its version is ${version}; this release reads version ${schema.version}`);
  const result = read(db, "quick_check");
  if (result !== "ok") throw new DamagedError(String(result));
  if (upgrade !== undefined) change(db, upgrade, schema);
}

function change(db: DatabaseSync, statements: string, { version }: DatabaseSchema): void {
  transact(db, () => db.exec(`${statements}; PRAGMA user_version = ${version}`));
}

function read(db: DatabaseSync, pragma: string): unknown {
  const row = db.prepare(`PRAGMA ${pragma}`).get();
  return row && Object.values(row)[0];
}

/** Runs `work` in the open transaction, or in a new one, which is rolled back if `work` throws. */
export function transact<T>(db: DatabaseSync, work: () => T): T {
  if (db.isTransaction) return work();
  db.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    db.exec("COMMIT");
    return result;
  } catch (error) {
    // Some errors end the transaction by themselves.
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}

/** Returns a function that prepares each statement once: preparing costs more than running. */
export function cachedStatements(db: DatabaseSync): (sql: string) => Statement {
  const prepared = new Map<string, Statement>();
  return (sql) => {
    const statement = prepared.get(sql) ?? prepare(db, sql);
    prepared.set(sql, statement);
    return statement;
  };
}

/** A prepared statement whose values are given by position. */
export interface Statement {
  run(...values: SQLInputValue[]): ReturnType<StatementSync["run"]>;
  get(...values: SQLInputValue[]): ReturnType<StatementSync["get"]>;
  all(...values: SQLInputValue[]): ReturnType<StatementSync["all"]>;
  iterate(...values: SQLInputValue[]): ReturnType<StatementSync["iterate"]>;
}

/**
 * Prepares a statement. Replaces numbered parameters with plain ones: Node 22 takes them for named
 * ones.
 */
function prepare(db: DatabaseSync, sql: string): Statement {
  const order = Array.from(sql.matchAll(/\?(\d+)/g), ([, number]) => Number(number) - 1);
  if (order.length === 0) return db.prepare(sql);
  const statement = db.prepare(sql.replace(/\?\d+/g, "?"));
  const sorted = (values: readonly SQLInputValue[]) => order.map((index) => values[index] ?? null);
  return {
    run: (...values) => statement.run(...sorted(values)),
    get: (...values) => statement.get(...sorted(values)),
    all: (...values) => statement.all(...sorted(values)),
    iterate: (...values) => statement.iterate(...sorted(values)),
  };
}
