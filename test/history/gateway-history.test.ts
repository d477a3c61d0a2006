import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openSqliteHistoryStore } from "../../src/history/index.ts";
import { FlareRecord } from "../../src/model/index.ts";
import { newDirectory, startLeader } from "../support/edges.ts";
import { Waiters } from "../support/waiters.ts";

const LIMITS = { maxAgeMs: 30 * 86_400_000, maxBytes: 2 ** 30 };

test("a gateway stores the flares that finished beside its log", async ({ onTestFinished }) => {
  const data = newDirectory(onTestFinished);
  const gateway = await startLeader(onTestFinished, { data });
  const finished = () => gateway.head.snapshot.flares.finished_trending;
  const waiters = new Waiters(finished);
  const unwatch = gateway.head.onChange(() => waiters.look());
  await waiters.until(() => finished().length > 0);
  unwatch();
  await gateway.stop();
  const [file = ""] = readdirSync(data).filter((name) => /^history-\w+\.sqlite$/.test(name));
  const store = openSqliteHistoryStore(LIMITS, join(data, file));
  onTestFinished(() => store.close());
  const records = store.page({ limit: 1_000 }).map(({ body }) => FlareRecord.parse(JSON.parse(body)));
  expect(records.map(({ flare }) => flare)).toEqual(expect.arrayContaining([...finished()]));
  expect(records.every(({ started, flare }) => started?.at === flare.started_trending_at)).toBe(true);
});
