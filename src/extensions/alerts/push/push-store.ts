import { cachedStatements, openDatabase, transact } from "../../../base/lib/io/sqlite.ts";
import type { Notify } from "../../../base/lib/notify.ts";
import { PushRequest } from "./push-subscription.ts";

/**
 * Earlier versions did not store what the push services answered. Their subscriptions count as made
 * at the upgrade, and as proven: most have delivered alerts.
 */
const HEALTH = `
    ALTER TABLE subscription ADD COLUMN made_at_ms INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE subscription ADD COLUMN is_proven INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE subscription ADD COLUMN failing_since_ms INTEGER;
    UPDATE subscription SET made_at_ms = 1000 * unixepoch(), is_proven = 1;
`;

const FORM = {
  /** `FLWP`. */
  applicationId: 0x464c5750,
  version: 3,
  upgrades: {
    // Some files of version 1 store the holders in a table. In the others, subscriptions count as
    // made without a key.
    1: `
    ALTER TABLE subscription ADD COLUMN holder TEXT;
    CREATE TABLE IF NOT EXISTS holder (id TEXT PRIMARY KEY, holder TEXT NOT NULL) STRICT;
    UPDATE subscription SET holder = (SELECT made.holder FROM holder AS made WHERE made.id = subscription.id);
    DROP TABLE holder;
    ${HEALTH}
`,
    2: HEALTH,
  },
  tables: `
  CREATE TABLE subscription (id TEXT PRIMARY KEY, client TEXT NOT NULL, request TEXT NOT NULL, holder TEXT,
    made_at_ms INTEGER NOT NULL, is_proven INTEGER NOT NULL DEFAULT 0, failing_since_ms INTEGER) STRICT;
  CREATE INDEX by_client ON subscription (client);
`,
};

/** How a subscription's push service answers. */
export interface PushHealth {
  /** Whether it has ever accepted a message. */
  readonly isProven: boolean;
  /** When it first failed after it last accepted a message; `undefined` if it has not. */
  readonly failingSinceMs: number | undefined;
}

/** What a new subscription may replace. */
interface Wanted {
  /** The mark of its address. */
  readonly client: string;
  /** Number of subscriptions from this address. */
  readonly ofClient: number;
  /** Whether it may only replace one from the same address. */
  readonly isOwn: boolean;
  /** Times, in milliseconds: what has failed, or is unproven, since before then. */
  readonly failingBeforeMs: number;
  readonly unprovenBeforeMs: number;
}

/**
 * Finds the subscription to replace. Never one that works, and none from an address with fewer.
 * Unproven ones come first, and of these the one that has failed longest. One that has never been
 * tried comes last: after a while, or if its address has more than the new one's.
 */
const REPLACEABLE = `SELECT id FROM subscription
  JOIN (SELECT client, count(*) AS size FROM subscription GROUP BY client) USING (client)
  WHERE (client = ?1 OR (?2 = 0 AND size > ?3)) AND CASE
    WHEN failing_since_ms IS NULL THEN is_proven = 0 AND (made_at_ms <= ?5 OR size > ?3 + 1 AND client <> ?1)
    ELSE is_proven = 0 OR failing_since_ms <= ?4 END
  ORDER BY failing_since_ms IS NULL, is_proven, coalesce(failing_since_ms, made_at_ms), subscription.rowid LIMIT 1`;

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
  const remove = (id: string): void => void prepare("DELETE FROM subscription WHERE id = ?").run(id);
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
    /** Adds a subscription in place of the one with the id `evicted`, or replaces its rules. */
    save: (
      id: string,
      client: string,
      { request, holder }: StoredPush,
      nowMs: number,
      evicted?: string,
    ): void =>
      transact(db, () => {
        if (evicted !== undefined) remove(evicted);
        const sql =
          "INSERT INTO subscription (id, client, request, holder, made_at_ms) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET request = excluded.request, holder = excluded.holder";
        prepare(sql).run(id, client, JSON.stringify(request), holder ?? null, nowMs);
      }),
    /** Returns the id of the subscription that a new one may replace, if any. */
    replaceable: (wanted: Wanted): string | undefined => {
      const { client, isOwn, ofClient, failingBeforeMs, unprovenBeforeMs } = wanted;
      const row = prepare(REPLACEABLE).get(
        client,
        Number(isOwn),
        ofClient,
        failingBeforeMs,
        unprovenBeforeMs,
      );
      return row && String(row.id);
    },
    health: (id: string): PushHealth | undefined => {
      const row = prepare("SELECT is_proven, failing_since_ms FROM subscription WHERE id = ?").get(id);
      const since = row?.failing_since_ms ?? undefined;
      return (
        row && { isProven: row.is_proven === 1, failingSinceMs: since === undefined ? since : Number(since) }
      );
    },
    note: (id: string, { isProven, failingSinceMs }: PushHealth): void => {
      const sql = "UPDATE subscription SET is_proven = ?, failing_since_ms = ? WHERE id = ?";
      prepare(sql).run(Number(isProven), failingSinceMs ?? null, id);
    },
    remove,
    close: (): void => db.close(),
  };
}
