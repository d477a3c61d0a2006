import { pino } from "pino";
import { expect, test } from "vitest";
import { EMPTY_SNAPSHOT } from "../../src/base/model/index.ts";
import { createConfig, type Gateway, startGateway } from "../../src/index.ts";
import { IndependentClient } from "../support/clients/independent-client.ts";
import { expectOneState } from "../support/expect/one-state.ts";
import { expectAllStored } from "../support/expect/stored-seqs.ts";
import { IS_SOAK } from "../support/law-runs.ts";
import { handOver, newDirectory, seqOf, startEdge, startLeader } from "../support/servers/edges.ts";
import { pumpedSettings } from "../support/world/pumped-market.ts";

const NO_FACTS = { trades: false, liquidity: false, listings: false, profiles: false };
const PUMPED = pumpedSettings();
/** Faster, because a filter passes only one event in hundreds. */
const FAST = { ...PUMPED, speed: 2_000 } as const;
const AT = "2026-11-21T08:00:00.000Z";
const STILL = { state: "live", reason: "", observed_at: AT, last_success_at: AT, data_age_ms: 1 } as const;

/** Returns the events after `after`, as text and as cursors. */
async function page(gateway: Gateway, after: string): Promise<{ text: string; cursors: string[] }> {
  const response = await fetch(`${gateway.url}/api/v1/events?after=${after}&limit=1000`);
  const text = await response.text();
  expect(response.status, text).toBe(200);
  const { events }: { events: { cursor: string }[] } = JSON.parse(text);
  return { text, cursors: events.map(({ cursor }) => cursor) };
}

/** Records the state after each batch from now on, as REST would serve it. */
function watchStates({ head }: Gateway): ReadonlyMap<number, string> {
  const states = new Map<number, string>();
  head.onChange((_records, { cursor, snapshot, observedAtMs }) =>
    states.set(cursor.seq, JSON.stringify([observedAtMs, snapshot])),
  );
  return states;
}

test("[F1] [F3] [L2] an edge has its leader's events, byte for byte and with the same cursors, and the leader's state at each cursor", async ({
  onTestFinished,
}) => {
  const leader = await startLeader(onTestFinished, PUMPED);
  await expect.poll(() => seqOf(leader)).toBeGreaterThan(20);
  const edge = await startEdge(leader, onTestFinished);
  expect(edge.head.cursor.epoch).toBe(leader.head.cursor.epoch);
  const base = `${edge.head.cursor.epoch}-${seqOf(edge)}`;
  const [ofLeader, ofEdge] = [watchStates(leader), watchStates(edge)];
  const client = new IndependentClient(edge.url);
  await client.connect();
  await expect.poll(() => ofEdge.size).toBeGreaterThan(60);
  await expectOneState(edge.url, client);

  const last = Math.min(Math.max(...ofLeader.keys()), Math.max(...ofEdge.keys()));
  const first = Math.max(Math.min(...ofLeader.keys()), Math.min(...ofEdge.keys()));
  const between = [...ofEdge.keys()].filter((seq) => seq >= first && seq <= last);
  expect(between.length).toBeGreaterThan(50);
  // The edge publishes no state in the middle of a batch either.
  for (const seq of between)
    expect(JSON.parse(ofEdge.get(seq) ?? "0"), `${seq}`).toEqual(JSON.parse(ofLeader.get(seq) ?? "1"));

  const [there, here] = [await page(leader, base), await page(edge, base)];
  const shared = Math.min(there.cursors.length, here.cursors.length);
  expect(shared).toBeGreaterThan(100);
  const events = ({ text }: typeof here) =>
    text.slice(text.indexOf("["), text.indexOf(`"cursor":"${there.cursors[shared - 1]}","seq"`));
  expect(events(here).length).toBeGreaterThan(10_000);
  expect(events(here)).toBe(events(there));
  expect(edge.freshness()).toMatchObject({ state: "live" });
});

test("[F3] [L3] clients move between a leader and a chain of edges in both directions, over any transport, with one cursor", async ({
  onTestFinished,
}) => {
  const leader = await startLeader(onTestFinished, PUMPED);
  const edge = await startEdge(leader, onTestFinished);
  const far = await startEdge(edge, onTestFinished);
  const servers = IS_SOAK ? [leader, edge, far, leader, far, edge] : [leader, edge, far, leader];
  let client = new IndependentClient(leader.url);
  await client.connect();
  const received: unknown[] = [];
  for (const server of servers) {
    await client.disconnect();
    const next = new IndependentClient(server.url);
    handOver(client, next);
    await next.connect();
    expect(next.received.answers[0], server.url).toMatchObject({ resumed: "full" });
    const target = next.seq + 15;
    await next.until(() => next.seq >= target);
    await expectOneState(server.url, next);
    client = next;
    received.push(...next.received.events);
    await client.disconnect();
    const cursor = client.cursor ?? "";
    const answer = await fetch(`${far.url}/api/v1/events?channels=*,candles&after=${cursor}&limit=5&wait=5`);
    expect(answer.status).toBe(200);
    const { events } = (await answer.json()) as { events: { seq: number; type: string }[] };
    for (const event of events) client.take(event);
    received.push(...events);
  }
  expect(received.length).toBeGreaterThan(15 * servers.length);
  await expectAllStored(leader.url, received);
  expect(client.resets).toBe(0);
});

test("[F3] [W28] a client with a filter moves between leader and edge: an item that matched before the edge started counts as matched on both", async ({
  onTestFinished,
}) => {
  const leader = await startLeader(onTestFinished, FAST);
  const query = new URLSearchParams({ channels: "charts.bsc", min_price_change: "3" });
  const client = new IndependentClient(leader.url);
  await client.connect(query);
  await client.until(() => client.received.events.length > 20);
  const edge = await startEdge(leader, onTestFinished);
  let current = client;
  for (const server of IS_SOAK ? [edge, leader, edge] : [edge, leader]) {
    const target = current.received.events.length + 20;
    await current.until(() => current.received.events.length >= target);
    await current.disconnect();
    const next = new IndependentClient(server.url);
    handOver(current, next);
    await expect.poll(() => seqOf(server), { interval: 5 }).toBeGreaterThanOrEqual(next.seq);
    // The client throws if a change does not fit its state.
    await next.connect(query);
    expect(next.received.answers[0]).toMatchObject({ resumed: "full" });
    current = next;
  }
  const target = current.received.events.length + 20;
  await current.until(() => current.received.events.length >= target);
});

test("[F3] [L3] [W28] an edge with a stored log resumes its leader's epoch after a restart, and so do its clients", async ({
  onTestFinished,
}) => {
  const leader = await startLeader(onTestFinished, FAST);
  const data = newDirectory(onTestFinished);
  const edge = await startEdge(leader, onTestFinished, { data });
  const client = new IndependentClient(edge.url);
  await client.connect();
  const filter = new URLSearchParams({ channels: "charts.bsc", min_price_change: "3" });
  const filtered = new IndependentClient(edge.url);
  await filtered.connect(filter);
  await client.until(() => client.received.events.length > 20);
  await filtered.until(() => filtered.received.events.length > 8);
  const oldest = String(client.received.answers[0]?.cursor);
  await edge.stop();
  await client.until(() => client.closeCode !== undefined);
  await filtered.until(() => filtered.closeCode !== undefined);
  const before = seqOf(leader);
  await expect.poll(() => seqOf(leader)).toBeGreaterThan(before + 20);

  const again = await startEdge(leader, onTestFinished, { data, port: Number(new URL(edge.url).port) });
  await client.connect();
  expect(client.received.answers.at(-1)).toMatchObject({ resumed: "full" });
  await filtered.connect(filter);
  expect(filtered.received.answers.at(-1)).toMatchObject({ resumed: "full" });
  const target = filtered.received.events.length + 8;
  // The client throws if a change does not fit its state.
  await filtered.until(() => filtered.received.events.length >= target);
  await client.until(() => client.seq > before + 40);
  await expectOneState(again.url, client);
  expect(client.resets).toBe(1);
  const [there, here] = [await page(leader, oldest), await page(again, oldest)];
  const shared = Math.min(there.cursors.length, here.cursors.length);
  expect(here.cursors.slice(0, shared)).toEqual(there.cursors.slice(0, shared));
});

test("[F3] an edge of a leader without new events is ready with the leader's state", async ({
  onTestFinished,
}) => {
  const polls = [{ observedAtMs: 1_000, snapshot: EMPTY_SNAPSHOT }];
  const source = {
    info: { name: "still", origin: "recorded", facts: NO_FACTS } as const,
    freshness: () => STILL,
    poll: async () => polls.shift(),
  };
  const leader = await startGateway(createConfig({ port: 0, logLevel: "silent", drain: "0" }), { source });
  onTestFinished(() => leader.stop());
  const edge = await startEdge(leader, onTestFinished);
  expect(edge.head).toMatchObject({ ready: true, cursor: leader.head.cursor, observedAtMs: 1_000 });
});

test("an edge with a data directory logs its starting position, and after a restart that it resumes the stored log", async ({
  onTestFinished,
}) => {
  const leader = await startLeader(onTestFinished, PUMPED);
  await expect.poll(() => seqOf(leader)).toBeGreaterThan(20);
  const lines: { readonly msg: string }[] = [];
  const logger = pino({ level: "info" }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const config = createConfig({
    ...{ port: 0, drain: "0", source: `follow:${leader.url}`, data: newDirectory(onTestFinished) },
  });
  for (const _twice of [1, 2]) {
    const edge = await startGateway(config, { logger });
    onTestFinished(() => edge.stop());
    await edge.stop();
  }
  const expected = /mirroring starts at|stored log/;
  const reported = lines.map(({ msg }) => msg).filter((msg) => expected.test(msg));
  expect(reported).toEqual([
    "no stored log; starting at the leader's position",
    expect.stringContaining(`connected to the leader; mirroring starts at ${leader.head.cursor.epoch}-`),
    "resuming the stored log",
  ]);
});
