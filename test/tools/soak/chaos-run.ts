import { setImmediate as turn } from "node:timers/promises";
import type { Poll } from "../../../src/gateway/source/index.ts";
import { createConfig, type Gateway, startGateway } from "../../../src/index.ts";
import { IndependentClient } from "../../support/clients/independent-client.ts";
import { type Chance, createChance } from "../../support/random/chance.ts";
import { ChaosProxy, type ProxyTally } from "../../support/servers/chaos-proxy.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";
import { ChaosClient, type ClientTally, type Profile } from "./chaos-client.ts";
import { FILTERED_CHANNELS, Truth, type Wanted } from "./chaos-truth.ts";
import { get } from "./connections.ts";
import { HandedSource, LOOK_MS, tapeOf } from "./market-tape.ts";

/** Counts of a run. */
export interface ChaosTally extends Omit<ClientTally, "ends">, ProxyTally {
  /** Number of connections that the server ended, by reason. */
  readonly ends: Record<string, number>;
  /** Event time that has passed, in ms. */
  passedMs: number;
}

/**
 * Time per step, below the gateway's shortest timeout, so that a response can travel between two
 * steps.
 */
const STEP_MS = 3_000;
/** Number of different markets. Each takes half a second to generate. */
const MARKETS = 2;
/** Turns of the event loop per step, in which messages in flight arrive. */
const TURNS_PER_STEP = 3;
/**
 * Steps without progress, after the proxy has calmed down, after which a client counts as stuck.
 * Some clients notice only by silence that they must reconnect.
 */
const MAX_STUCK_STEPS = 3_000;

/** Filters that clients may use. */
const FILTERS: readonly [Omit<Wanted, "channels">, ...Omit<Wanted, "channels">[]] = [
  { min_price_change: "12" },
  { min_liquidity: "40000", sticky: "true" },
  { min_price_change: "5", min_liquidity: "20000", sticky: "true" },
  { min_liquidity: "20000" },
];
const SOME_CHANNELS = ["charts.bsc,status", "flares.pro,leaderboards.exchange", "newest.bsc"] as const;

/**
 * Lets clients of all kinds follow a gateway through bad connections for `hours` of event time,
 * then lets them reach the head. An hour takes about a second. Rejects, with the seed in the
 * message, if a client misses an event, gets one twice, or does not end with the state that REST
 * serves. The seed decides the probabilities, but the machine the timing, so a seed that failed
 * once may need several tries.
 */
export async function runChaos(seed: number, hours: number): Promise<ChaosTally> {
  try {
    return await run(seed, await tapeOf(seed % MARKETS, hours));
  } catch (error) {
    throw new Error(`seed ${seed}: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}

async function run(seed: number, polls: readonly Poll[]): Promise<ChaosTally> {
  const chance = createChance(seed);
  const clock = new ManualClock();
  const source = new HandedSource();
  // With a short log, cursors are sometimes lost; with the default one they never are.
  const short = chance.happens(0.4) ? { logCount: chance.magnitude(20, 1_000), logAge: "1m" } : {};
  const config = createConfig({ port: 0, logLevel: "silent", drain: "0", source: "engine", ...short });
  const [base, ...rest] = polls;
  if (base) source.hand(base);
  const gateway = await startGateway(config, { clock, source });
  const proxy = new ChaosProxy(Number(new URL(gateway.url).port), createChance(seed + 1_000_000));
  const scene: Scene = {
    ...{ gateway, clock, source, proxy, chance },
    truth: new Truth(gateway),
    isShort: "logCount" in short,
    clients: [],
  };
  try {
    return await play(scene, await proxy.listen(), rest);
  } finally {
    for (const client of scene.clients) client.close();
    const stopped = gateway.stop();
    const passing = setInterval(() => clock.advance(500), 1);
    await stopped;
    clearInterval(passing);
    await proxy.close();
  }
}

interface Scene {
  readonly gateway: Gateway;
  readonly clock: ManualClock;
  readonly source: HandedSource;
  readonly proxy: ChaosProxy;
  readonly truth: Truth;
  readonly chance: Chance;
  readonly isShort: boolean;
  readonly clients: ChaosClient[];
}

async function play(scene: Scene, url: string, polls: readonly Poll[]): Promise<ChaosTally> {
  const { gateway, proxy, truth, chance, clients } = scene;
  for (const profile of createProfiles(chance)) {
    clients.push(new ChaosClient(url, profile, truth, createChance(chance.whole(0, 2 ** 31))));
  }
  const finished = new AbortController();
  const steady = new IndependentClient(gateway.url);
  await steady.connect();
  const following = clients.map((client) => client.follow(finished.signal));
  for (const poll of polls) {
    await publish(scene, poll, steady);
    checkFaults(clients);
  }
  proxy.calm();
  await settle(scene);
  finished.abort();
  const left = Promise.all(following);
  for (const client of clients) client.tick();
  await left;
  await compareWithRest(scene);
  await steady.disconnect();
  return tallyOf(scene, polls.length);
}

/** Returns one profile of each kind, with random parts. */
function createProfiles(chance: Chance): readonly Profile[] {
  const all = { channels: "*" } as const;
  const filtered = () => ({ channels: FILTERED_CHANNELS, ...chance.pick(FILTERS) });
  const some = { channels: chance.pick(SOME_CHANNELS) };
  const id = () => (chance.happens(0.6) ? { clientId: `bot-${chance.whole(1e9, 2e9)}` } : {});
  const any = ["websocket", "sse", "poll"] as const;
  return [
    { name: "websocket", transports: ["websocket"], wanted: all, ...id() },
    { name: "sse", transports: ["sse"], wanted: all, ...id() },
    { name: "poll", transports: ["poll"], wanted: all },
    { name: "switching", transports: any, wanted: all, ...id() },
    { name: "filtered", transports: any, wanted: filtered(), ...id() },
    { name: "some channels", transports: any, wanted: some, ...id() },
    {
      name: "latest",
      transports: ["websocket", "sse"],
      wanted: chance.pick<Wanted>([all, filtered()]),
      mode: "latest",
      ...id(),
    },
  ];
}

/** Publishes the next state of the market and lets time pass until the following one. */
async function publish(scene: Scene, poll: Poll, steady: IndependentClient): Promise<void> {
  const { gateway, source, chance } = scene;
  if (chance.happens(0.02)) source.state = source.state === "live" ? "stale" : "live";
  source.hand(poll);
  for (let ms = 0; ms < LOOK_MS; ms += STEP_MS) await pass(scene);
  // This connection is fair and paces the run: what was sent before is also in flight elsewhere.
  await steady.until(() => steady.seq >= gateway.head.cursor.seq || steady.closeCode !== undefined);
  if (steady.closeCode !== undefined) await steady.connect();
  steady.received.events.length = 0;
}

async function pass({ clock, clients }: Scene): Promise<void> {
  clock.advance(STEP_MS);
  for (const client of clients) client.tick();
  for (let turns = 0; turns < TURNS_PER_STEP; turns += 1) await turn();
}

/** Lets all clients reach the head, without new events and new faults. */
async function settle(scene: Scene): Promise<void> {
  const { gateway, clients } = scene;
  const lagging = () => clients.filter(({ seq }) => seq < gateway.head.cursor.seq);
  let before = "";
  for (let steps = 0; lagging().length > 0; steps += 1) {
    await pass(scene);
    checkFaults(clients);
    const positions = clients.map(({ seq }) => seq).join();
    if (positions !== before) steps = 0;
    before = positions;
    if (steps < MAX_STUCK_STEPS) continue;
    const [first] = lagging();
    throw new Error(
      `${first?.profile.name} is stuck at ${first?.cursor}; the head is ${gateway.head.cursor.seq}`,
    );
  }
}

function checkFaults(clients: readonly ChaosClient[]): void {
  for (const { fault } of clients) if (fault) throw fault;
}

async function compareWithRest({ gateway, clients, truth, isShort }: Scene): Promise<void> {
  const { body } = await get(`${gateway.url}/api/v1/snapshot`, new AbortController().signal);
  const { cursor, observed_at: _observed, ...lists } = body ?? {};
  const { seq } = gateway.head.cursor;
  if (!String(cursor).endsWith(`-${seq}`)) throw new Error(`REST is at ${cursor}, but the head is ${seq}`);
  if (!truth.matches(seq, { channels: "*" }, lists)) throw new Error("REST's state differs from the market");
  for (const client of clients) {
    client.compare();
    const { resets } = client.tally;
    if (!isShort && resets > 0)
      throw new Error(`${client.profile.name}: ${resets} resets, although the log has all events`);
  }
}

function tallyOf({ clients, proxy }: Scene, polls: number): ChaosTally {
  const ends: Record<string, number> = {};
  const sum = (field: Exclude<keyof ClientTally, "ends">) =>
    clients.reduce((total, { tally }) => total + tally[field], 0);
  for (const { tally } of clients) {
    for (const [reason, count] of tally.ends) ends[reason] = (ends[reason] ?? 0) + count;
  }
  return {
    ...proxy.tally,
    ends,
    connections: sum("connections"),
    events: sum("events"),
    resumed: sum("resumed"),
    resets: sum("resets"),
    conflated: sum("conflated"),
    abandoned: sum("abandoned"),
    compared: sum("compared"),
    passedMs: polls * LOOK_MS,
  };
}
