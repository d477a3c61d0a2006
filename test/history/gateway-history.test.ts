import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type ExpectStatic, test } from "vitest";
import { createHistoryReader, openSqliteHistoryStore } from "../../src/history/index.ts";
import type { HistoryResponse } from "../../src/http/index.ts";
import { FlareRecord, type TrackRecord } from "../../src/model/index.ts";
import { type Finish, newDirectory, startEdge, startLeader } from "../support/edges.ts";
import { checkedFetch } from "../support/validate-response.ts";
import { Waiters } from "../support/waiters.ts";
import { startWorkerGateway } from "../support/worker-gateway.ts";

/** The whole recorded day at once, and then nothing. */
const PAST_DAY = { warmup: "24h", loop: false } as const;
const LIMITS = { maxAgeMs: 30 * 86_400_000, maxBytes: 2 ** 30 };

/** The newest record, once there is one. */
async function waitForHistory(url: string, expect: ExpectStatic): Promise<FlareRecord | undefined> {
  const ask = async () => (await checkedFetch(`${url}/api/v1/history?limit=1`)).json as HistoryResponse;
  await expect.poll(ask).toMatchObject({ flares: [{ cause: expect.any(String) }] });
  return (await ask()).flares[0];
}

/** Flares of the minute after `time`, once that is over. */
async function pastFlares(url: string, time: string, expect: ExpectStatic) {
  const at = new Date(Math.ceil(Date.parse(time) / 60_000) * 60_000).toISOString();
  const href = `${url}/api/v1/flares?at=${at}`;
  await expect.poll(async () => (await checkedFetch(href)).status).toBe(200);
  const { headers, json } = await checkedFetch(href);
  expect(headers.get("flarewire-at")).toBe(at);
  return { href, json, cursor: headers.get("flarewire-cursor") };
}

/** The record of a day, once some of its outcomes are final, and when the data was observed. */
async function recordAt(url: string, expect: ExpectStatic) {
  const ask = () => checkedFetch(`${url}/api/v1/record?window=24h`);
  const flaresOf = async () => ((await ask()).json as Partial<TrackRecord>).all?.flares ?? 0;
  await expect.poll(flaresOf, { timeout: 30_000 }).toBeGreaterThan(5);
  const { json, headers } = await ask();
  return { record: json as TrackRecord, observedMs: Date.parse(headers.get("flarewire-observed-at") ?? "") };
}

function openHistoryIn(data: string, onTestFinished: Finish) {
  const [file = ""] = readdirSync(data).filter((name) => /^history-\w+\.sqlite$/.test(name));
  const store = openSqliteHistoryStore(LIMITS, join(data, file));
  onTestFinished(() => store.close());
  return store;
}

test.concurrent("a gateway stores the flares that finished beside its log", async ({
  expect,
  onTestFinished,
}) => {
  const data = newDirectory(onTestFinished);
  const gateway = await startLeader(onTestFinished, { data, speed: "2000" });
  const finished = () => gateway.head.snapshot.flares.finished_trending;
  const waiters = new Waiters(finished);
  const unwatch = gateway.head.onChange(() => waiters.look());
  await waiters.until(() => finished().length > 0);
  unwatch();
  const latest = await waitForHistory(gateway.url, expect);
  const one = await checkedFetch(`${gateway.url}/api/v1/flares/${latest?.flare.id}`);
  expect([one.status, one.json]).toEqual([200, latest]);
  await gateway.stop();
  const store = openHistoryIn(data, onTestFinished);
  const records = store.page({ limit: 1_000 }).map(({ body }) => FlareRecord.parse(JSON.parse(body)));
  expect(records.map(({ flare }) => flare)).toEqual(expect.arrayContaining([...finished()]));
  expect(records.every(({ started, flare }) => started?.at === flare.started_trending_at)).toBe(true);
});

test.concurrent("workers answer from the history of their primary, for past minutes too", async ({
  expect,
  onTestFinished,
}) => {
  const { url } = await startWorkerGateway(onTestFinished, "--data", "none");
  const latest = await waitForHistory(url, expect);
  const answers = await Promise.all(
    Array.from({ length: 4 }, () => checkedFetch(`${url}/api/v1/flares/${latest?.flare.id}`)),
  );
  expect(answers.map(({ json }) => json)).toEqual(Array(4).fill(latest));
  const past = await pastFlares(url, latest?.flare.finished_trending_at ?? "", expect);
  const others = await Promise.all(Array.from({ length: 3 }, () => checkedFetch(past.href)));
  expect(others.map(({ json }) => json)).toEqual(Array(3).fill(past.json));
});

test.concurrent("an edge has the flares that finish while it follows, and the same past minutes", async ({
  expect,
  onTestFinished,
}) => {
  const leader = await startLeader(onTestFinished, { speed: "2000" });
  const edge = await startEdge(leader, onTestFinished);
  const latest = await waitForHistory(edge.url, expect);
  const ask = (url: string) => checkedFetch(`${url}/api/v1/flares/${latest?.flare.id}`);
  const [own, leaders] = await Promise.all([ask(edge.url), ask(leader.url)]);
  // The flare may have started before the edge followed.
  const started = (own.json as FlareRecord).started ?? null;
  expect(own.json).toEqual({ ...(leaders.json as FlareRecord), ...(started ? {} : { started }) });
  const { href, json, cursor } = await pastFlares(edge.url, latest?.flare.finished_trending_at ?? "", expect);
  const same = await pastFlares(leader.url, new URL(href).searchParams.get("at") ?? "", expect);
  expect({ json, cursor }).toEqual({ json: same.json, cursor: same.cursor });
});

test.concurrent("an edge has the same record as its leader, and that is computed from the stored outcomes", async ({
  expect,
  onTestFinished,
}) => {
  const data = newDirectory(onTestFinished);
  const leader = await startLeader(onTestFinished, { ...PAST_DAY, data });
  const edge = await startEdge(leader, onTestFinished);
  const own = await recordAt(leader.url, expect);
  await expect.poll(async () => (await recordAt(edge.url, expect)).record).toEqual(own.record);
  await leader.stop();
  const toMs = (Math.floor(own.observedMs / 60_000) - 1) * 60_000;
  const reader = createHistoryReader(openHistoryIn(data, onTestFinished));
  expect(await reader.record({ window: "24h", toMs })).toEqual(own.record);
});
