import { cachedStatements, openDatabase } from "../../lib/io/sqlite.ts";
import { PushRequest } from "./push-subscription.ts";

const FORM = {
  /** `FLWP`. */
  applicationId: 0x464c5750,
  version: 1,
  tables: `
  CREATE TABLE subscription (id TEXT PRIMARY KEY, client TEXT NOT NULL, request TEXT NOT NULL) STRICT;
  CREATE INDEX by_client ON subscription (client);
`,
};

/** The push subscriptions, each with a mark of the address that it came from. */
export interface PushStore {
  all(): readonly PushRequest[];
  has(id: string): boolean;
  /** Counts the subscriptions in total and of a client. */
  count(client: string): { readonly all: number; readonly ofClient: number };
  save(id: string, client: string, request: PushRequest): void;
  remove(id: string): void;
  close(): void;
}

/** Opens the file at `path`, readable for its owner only, or memory. Throws if it is unusable. */
export function openPushStore(path: string | undefined): PushStore {
  const db = openDatabase(path, FORM);
  const prepare = cachedStatements(db);
  return {
    all: () =>
      prepare("SELECT request FROM subscription")
        .all()
        .map(({ request }) => PushRequest.parse(JSON.parse(String(request)))),
    has: (id) => prepare("SELECT 1 FROM subscription WHERE id = ?").get(id) !== undefined,
    count: (client) => {
      const sql = "SELECT count(*) AS whole, count(*) FILTER (WHERE client = ?) AS own FROM subscription";
      const row = prepare(sql).get(client);
      return { all: Number(row?.whole), ofClient: Number(row?.own) };
    },
    save: (id, client, request) => {
      const sql =
        "INSERT INTO subscription VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET request = excluded.request";
      prepare(sql).run(id, client, JSON.stringify(request));
    },
    remove: (id) => void prepare("DELETE FROM subscription WHERE id = ?").run(id),
    close: () => db.close(),
  };
}
