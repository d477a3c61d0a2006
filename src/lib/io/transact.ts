import type { DatabaseSync } from "node:sqlite";

/** Does `work` in one transaction, or in the one that is open already. Throws what it throws; nothing is changed then. */
export function transact<T>(db: DatabaseSync, work: () => T): T {
  if (db.isTransaction) return work();
  db.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    db.exec("COMMIT");
    return result;
  } catch (error) {
    // Some faults end the transaction by themselves.
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}
