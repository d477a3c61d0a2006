import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type ExpectStatic, test } from "vitest";
import { HOUR_MS } from "../../../src/base/lib/time/time.ts";
import { FlareRecord, type TokenDetails, type TrackRecord } from "../../../src/base/model/index.ts";
import type { HistoryResponse } from "../../../src/extensions/history/http/history-routes.ts";
import { createHistoryReader, openSqliteHistoryStore } from "../../../src/extensions/history/index.ts";
import { checkedFetch } from "../../support/expect/validate-response.ts";
import { type Finish, newDirectory, startEdge, startLeader } from "../../support/servers/edges.ts";
import { pumpedSettings, writePumpedMarket } from "../../support/world/pumped-market.ts";

/** A small market until its first flare. From then on, a flare starts and finishes each second. */
const SOON = pumpedSettings();
const PAST_HOURS = 4;
/** Requests cost server and test more than a pause between them. */
const EVERY = { interval: 200 };
const LIMITS = { maxAgeMs: 30 * 86_400_000, maxBytes: 2 ** 30 };

/**
 * Returns the newest record as soon as a flare finishes. Past minutes of a warm-up are not stored.
 */
async function waitForHistory(url: string, expect: ExpectStatic): Promise<FlareRecord | undefined> {
  const observedAt = async () =>
    (await checkedFetch(`${url}/api/v1/flares`)).headers.get("flarewire-observed-at");
  // An edge may answer before it has its leader's first state.
  await expect.poll(observedAt, EVERY).not.toBeNull();
  const href = `${url}/api/v1/history?limit=1&from=${await observedAt()}`;
  const ask = async () => (await checkedFetch(href)).json as HistoryResponse;
  await expect.poll(ask, EVERY).toMatchObject({ flares: [{ cause: expect.any(String) }] });
  return (await ask()).flares[0];
}

/** Returns the flares of the minute after `time`, once that minute is over. */
async function pastFlares(url: string, time: string, expect: ExpectStatic) {
  const at = new Date(Math.ceil(Date.parse(time) / 60_000) * 60_000).toISOString();
  const href = `${url}/api/v1/flares?at=${at}`;
  // A failure shows the problem.
  const ask = async () => {
    const { status, json } = await checkedFetch(href);
    return status === 200 ? status : json;
  };
  await expect.poll(ask, EVERY).toBe(200);
  const { headers, json } = await checkedFetch(href);
  expect(headers.get("flarewire-at")).toBe(at);
  return { href, json, cursor: headers.get("flarewire-cursor") };
}

/** Returns the record of a day as soon as it has this many flares, and the time of the data. */
async function recordAt(url: string, flares: number, expect: ExpectStatic) {
  const ask = () => checkedFetch(`${url}/api/v1/record?window=24h`);
  await expect.poll(async () => (await ask()).json, EVERY).toMatchObject({ all: { flares } });
  const { json, headers } = await ask();
  return { record: json as TrackRecord, observedMs: Date.parse(headers.get("flarewire-observed-at") ?? "") };
}

/** Returns the final data of a finished flare's token: the flare, and candles before its end. */
async function tokenOf(url: string, { flare }: FlareRecord) {
  const { json } = await checkedFetch(`${url}/api/v1/tokens/bsc/${flare.token.address}`);
  const { symbol, address, flares, candles } = json as TokenDetails;
  const end = flare.finished_trending_at ?? "";
  return {
    symbol,
    address,
    flare: flares.find((one) => one.flare.id === flare.id)?.flare,
    candles: candles.filter(({ open_at }) => open_at < end),
  };
}

function openHistoryIn(data: string, onTestFinished: Finish) {
  const [file = ""] = readdirSync(data).filter((name) => /^history-\w+\.sqlite$/.test(name));
  const store = openSqliteHistoryStore(LIMITS, join(data, file));
  onTestFinished(() => store.close());
  return store;
}

test.concurrent("a gateway stores finished flares beside its log, and an edge has those that finish while it follows, and the same past minutes", async ({
  expect,
  onTestFinished,
}) => {
  const data = newDirectory(onTestFinished);
  const leader = await startLeader(onTestFinished, { data, ...SOON });
  const edge = await startEdge(leader, onTestFinished);
  const latest = await waitForHistory(edge.url, expect);
  const ask = (url: string) => checkedFetch(`${url}/api/v1/flares/${latest?.flare.id}`);
  const [own, leaders] = await Promise.all([ask(edge.url), ask(leader.url)]);
  // The flare may have started before the edge followed the leader.
  const started = (own.json as FlareRecord).started ?? null;
  expect(own.json).toEqual({ ...(leaders.json as FlareRecord), ...(started ? {} : { started }) });
  const { href, json, cursor } = await pastFlares(edge.url, latest?.flare.finished_trending_at ?? "", expect);
  const same = await pastFlares(leader.url, new URL(href).searchParams.get("at") ?? "", expect);
  expect({ json, cursor }).toEqual({ json: same.json, cursor: same.cursor });
  if (!latest) return;
  // The edge has the hour of candles in the leader's snapshot when it began to follow.
  const lastHour = async (url: string) => {
    const { candles, ...token } = await tokenOf(url, latest);
    const fromMs = Date.parse(latest.flare.finished_trending_at ?? "") - HOUR_MS;
    return { ...token, candles: candles.filter(({ open_at }) => Date.parse(open_at) > fromMs) };
  };
  const token = await lastHour(leader.url);
  expect(token.flare).toEqual(latest.flare);
  expect(token.candles.length).toBeGreaterThan(50);
  // The edge writes its history a moment after its log.
  await expect.poll(() => lastHour(edge.url), EVERY).toEqual(token);
  const finished = leader.head.snapshot.flares.finished_trending;
  await leader.stop();
  const store = openHistoryIn(data, onTestFinished);
  const records = store.page({ limit: 1_000 }).map(({ body }) => FlareRecord.parse(JSON.parse(body)));
  expect(records.map(({ flare }) => flare)).toEqual(expect.arrayContaining([...finished]));
  expect(records.every(({ started, flare }) => started?.at === flare.started_trending_at)).toBe(true);
});

test.concurrent("an edge has the same record as its leader, which is computed from the stored outcomes", async ({
  expect,
  onTestFinished,
}) => {
  const data = newDirectory(onTestFinished);
  // All past minutes at once, and then no more data.
  const file = writePumpedMarket(join(newDirectory(onTestFinished), "market.csv"), PAST_HOURS);
  const past = { file, group: "bsc", warmup: `${PAST_HOURS}h`, loop: false };
  const leader = await startLeader(onTestFinished, { ...past, data });
  const edge = await startEdge(leader, onTestFinished);
  // A start does not wait for a warm-up of over 5 seconds.
  await expect.poll(() => leader.head.ready, EVERY).toBe(true);
  const { flares: lists, outcomes } = leader.head.snapshot;
  const flares = lists.finished_trending.filter(({ id }) => outcomes[id]?.final).length;
  expect(flares).toBeGreaterThan(5);
  const own = await recordAt(leader.url, flares, expect);
  expect((await recordAt(edge.url, flares, expect)).record).toEqual(own.record);
  await leader.stop();
  const toMs = (Math.floor(own.observedMs / 60_000) - 1) * 60_000;
  const reader = createHistoryReader(openHistoryIn(data, onTestFinished));
  expect(await reader.record({ window: "24h", toMs })).toEqual(own.record);
});
