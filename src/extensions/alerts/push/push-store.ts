import { cachedStatements, openDatabase } from "../../../base/lib/io/sqlite.ts";
import type { Notify } from "../../../base/lib/notify.ts";
import { PushRequest } from "./push-subscription.ts";

const FORM = {
  /** `FLWP`. */
  applicationId: 0x464c5750,
  version: 2,
  upgrades: {
    // Some files of version 1 store the holders in a table. In the others, subscriptions count as
    // made without a key.
    1: `
    ALTER TABLE subscription ADD COLUMN holder TEXT;
    CREATE TABLE IF NOT EXISTS holder (id TEXT PRIMARY KEY, holder TEXT NOT NULL) STRICT;
    UPDATE subscription SET holder = (SELECT made.holder FROM holder AS made WHERE made.id = subscription.id);
    DROP TABLE holder;
`,
  },
  tables: `
  CREATE TABLE subscription (id TEXT PRIMARY KEY, client TEXT NOT NULL, request TEXT NOT NULL, holder TEXT) STRICT;
  CREATE INDEX by_client ON subscription (client);
`,
};

/** A stored subscription. `holder`: the key or token with which it was made, if any. */
export interface StoredPush {
  readonly request: PushRequest;
  readonly holder: string | undefined;
}

/** The push subscriptions, each with a mark of the address that it came from. */
export type PushStore = ReturnType<typeof openPushStore>;

/**
 * Opens the file at `path`, readable for its owner only, or memory. Throws if it is unusable.
 * Reports each unreadable subscription once, and keeps it: another version may be able to read it.
 */
export function openPushStore(path?: string, notify: Notify = () => {}) {
  const db = openDatabase(path, FORM);
  const prepare = cachedStatements(db);
  const reported = new Set<string>();
  const read = ({ id, request, holder }: Record<string, unknown>): readonly StoredPush[] => {
    try {
      const parsed = PushRequest.parse(JSON.parse(String(request)));
      return [{ request: parsed, holder: holder === null ? undefined : String(holder) }];
    } catch {
      // The error would quote the endpoint and the keys, which are secrets of the browser.
      const target = String(id);
      if (!reported.has(target))
        notify("warn", "skipping a push subscription that is unreadable", { target });
      reported.add(target);
      return [];
    }
  };
  return {
    /** Returns the subscriptions, without those that cannot be read. */
    all: (): readonly StoredPush[] =>
      prepare("SELECT id, request, holder FROM subscription").all().flatMap(read),
    has: (id: string): boolean => prepare("SELECT 1 FROM subscription WHERE id = ?").get(id) !== undefined,
    count: (client: string) => {
      const sql = "SELECT count(*) AS whole, count(*) FILTER (WHERE client = ?) AS own FROM subscription";
      const row = prepare(sql).get(client);
      return { all: Number(row?.whole), ofClient: Number(row?.own) };
    },
    save: (id: string, client: string, { request, holder }: StoredPush): void => {
      const sql =
        "INSERT INTO subscription VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET request = excluded.request, holder = excluded.holder";
      prepare(sql).run(id, client, JSON.stringify(request), holder ?? null);
    },
    remove: (id: string): void => void prepare("DELETE FROM subscription WHERE id = ?").run(id),
    close: (): void => db.close(),
  };
}
