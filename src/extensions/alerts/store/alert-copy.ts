import { constants, type SQLOutputValue } from "node:sqlite";
import { transact } from "../../../base/lib/io/sqlite.ts";
import { openAlertMemory } from "./alert-store.ts";

type Rows = Readonly<Record<string, readonly (readonly SQLOutputValue[])[]>>;

/** A store in memory, whose changes bring other copies to the same state. */
export type AlertCopy = ReturnType<typeof openAlertCopy>;

const TABLES = ["place", "alert", "expired", "disabled", "notice", "moved"];
const { SQLITE_CHANGESET_CONFLICT, SQLITE_CHANGESET_DATA } = constants;
const REPLACEABLE: ReadonlySet<number> = new Set([SQLITE_CHANGESET_CONFLICT, SQLITE_CHANGESET_DATA]);

/** Opens a copy with the content of another. Default: an empty copy. */
export function openAlertCopy(content?: string) {
  const { db, store } = openAlertMemory();
  if (content !== undefined) {
    const rows: Rows = JSON.parse(content);
    transact(db, () => {
      for (const table of TABLES)
        for (const row of rows[table] ?? [])
          db.prepare(`INSERT INTO ${table} VALUES (${row.map(() => "?").join()})`).run(...row);
    });
  }
  let session = db.createSession();
  return {
    store,
    close: (): void => store.close(),
    /** Returns all changes since the last call; `undefined` if there are none. */
    changes: (): Uint8Array | undefined => {
      const changes = session.changeset();
      if (changes.length === 0) return undefined;
      session.close();
      session = db.createSession();
      return changes;
    },
    /** Applies the changes of a copy that was equal to this one. */
    apply: (changes: Uint8Array): void => {
      // If the two differ, the sender's rows replace ours. Changes of rows that we lack are
      // skipped.
      const onConflict = (kind: number) =>
        REPLACEABLE.has(kind) ? constants.SQLITE_CHANGESET_REPLACE : constants.SQLITE_CHANGESET_OMIT;
      db.applyChangeset(changes, { onConflict });
    },
    /** Returns the whole content, for {@link openAlertCopy}. */
    content: (): string => {
      const rowsOf = (table: string) => db.prepare(`SELECT * FROM ${table}`).all().map(Object.values);
      return JSON.stringify(Object.fromEntries(TABLES.map((table) => [table, rowsOf(table)])));
    },
  };
}
