import type { DatabaseSync } from "node:sqlite";

/**
 * Runs `work` in a transaction, or in the one already open. If it throws, rolls back and rethrows.
 */
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
