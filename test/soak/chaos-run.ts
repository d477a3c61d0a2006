import { setImmediate as turn } from "node:timers/promises";
import { createConfig, type Gateway, startGateway } from "../../src/index.ts";
import type { Poll } from "../../src/source/index.ts";
import { type Chance, createChance } from "../support/chance.ts";
import { ChaosProxy, type ProxyTally } from "../support/chaos-proxy.ts";
import { IndependentClient } from "../support/independent-client.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { ChaosClient, type ClientTally, type Habit } from "./chaos-client.ts";
import { FILTERED_CHANNELS, Truth, type Wanted } from "./chaos-truth.ts";
import { get } from "./connections.ts";
import { HandedSource, LOOK_MS, tapeOf } from "./market-tape.ts";

/** What happened in a run. */
export interface ChaosTally extends Omit<ClientTally, "ends">, ProxyTally {
  /** How often each reason was given by which the server ended a connection. */
  readonly ends: Record<string, number>;
  /** Event time that passed, in milliseconds. */
  passedMs: number;
}

/**
 * Time passes in steps of this: less than the gateway's shortest patience, so that an answer can
 * travel between two.
 */
const STEP_MS = 3_000;
/** Different markets; each costs half a second to make. */
const MARKETS = 2;
/** Turns of the event loop for what is on its way to end up somewhere. */
const FEW_TURNS = 3;
/**
 * Steps without progress, once the weather is fair, after which a client counts as lost: some of
 * them find out by their silence only that they have to connect again.
 */
const PATIENT_STEPS = 3_000;

/** What clients may want of the filtered lists. */
const FILTERS: readonly [Omit<Wanted, "channels">, ...Omit<Wanted, "channels">[]] = [
  { min_price_change: "12" },
  { min_liquidity: "40000", sticky: "true" },
  { min_price_change: "5", min_liquidity: "20000", sticky: "true" },
  { min_liquidity: "20000" },
];
const SOME_CHANNELS = ["charts.bsc,status", "flares.pro,leaderboards.exchange", "newest.bsc"] as const;

/**
 * Lets clients of all kinds follow a gateway through bad connections for `hours` of event time, of
 * which each takes a second or so, and then lets them come to the head. Rejects, with the seed in
 * the message, when a client missed something, was told it twice, or does not hold what REST
 * serves. The chances are the seed's; the moments at which bytes arrive are the machine's, so that
 * a seed that failed once may need several tries.
 */
export async function runChaos(seed: number, hours: number): Promise<ChaosTally> {
  try {
    return await run(seed, await tapeOf(seed % MARKETS, hours));
  } catch (error) {
    throw new Error(`seed ${seed}: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}

async function run(seed: number, looks: readonly Poll[]): Promise<ChaosTally> {
  const chance = createChance(seed);
  const clock = new ManualClock();
  const source = new HandedSource();
  // With a short log cursors are lost now and then; with the default one never.
  const short = chance.happens(0.4) ? { logCount: chance.magnitude(20, 1_000), logAge: "1m" } : {};
  const config = createConfig({ port: 0, logLevel: "silent", drain: "0", source: "engine", ...short });
  const [base, ...rest] = looks;
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

async function play(scene: Scene, url: string, looks: readonly Poll[]): Promise<ChaosTally> {
  const { gateway, proxy, truth, chance, clients } = scene;
  for (const habit of habits(chance)) {
    clients.push(new ChaosClient(url, habit, truth, createChance(chance.whole(0, 2 ** 31))));
  }
  const over = new AbortController();
  const steady = new IndependentClient(gateway.url);
  await steady.connect();
  const following = clients.map((client) => client.follow(over.signal));
  for (const look of looks) {
    await show(scene, look, steady);
    mustBeSound(clients);
  }
  proxy.calm();
  await settle(scene);
  over.abort();
  const left = Promise.all(following);
  for (const client of clients) client.tick();
  await left;
  await mustAgreeWithRest(scene);
  await steady.disconnect();
  return tallyOf(scene, looks.length);
}

/** One of each kind, and some of chance. */
function habits(chance: Chance): readonly Habit[] {
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

/** The market is looked at once more, and time passes until the next time. */
async function show(scene: Scene, look: Poll, steady: IndependentClient): Promise<void> {
  const { gateway, source, chance } = scene;
  if (chance.happens(0.02)) source.state = source.state === "live" ? "stale" : "live";
  source.hand(look);
  for (let ms = 0; ms < LOOK_MS; ms += STEP_MS) await pass(scene);
  // Paces the whole: this connection is fair, and what was sent before is on its way elsewhere too.
  await steady.until(() => steady.seq >= gateway.head.cursor.seq || steady.closeCode !== undefined);
  if (steady.closeCode !== undefined) await steady.connect();
  steady.received.events.length = 0;
}

async function pass({ clock, clients }: Scene): Promise<void> {
  clock.advance(STEP_MS);
  for (const client of clients) client.tick();
  for (let turns = 0; turns < FEW_TURNS; turns += 1) await turn();
}

/** Fair weather, and no more news: everybody comes to the head. */
async function settle(scene: Scene): Promise<void> {
  const { gateway, clients } = scene;
  const late = () => clients.filter(({ seq }) => seq < gateway.head.cursor.seq);
  let before = "";
  for (let steps = 0; late().length > 0; steps += 1) {
    await pass(scene);
    mustBeSound(clients);
    const places = clients.map(({ seq }) => seq).join();
    if (places !== before) steps = 0;
    before = places;
    if (steps < PATIENT_STEPS) continue;
    const [first] = late();
    throw new Error(`${first?.habit.name} stays at ${first?.cursor}; the head is ${gateway.head.cursor.seq}`);
  }
}

function mustBeSound(clients: readonly ChaosClient[]): void {
  for (const { fault } of clients) if (fault) throw fault;
}

async function mustAgreeWithRest({ gateway, clients, truth, isShort }: Scene): Promise<void> {
  const { body } = await get(`${gateway.url}/api/v1/snapshot`, new AbortController().signal);
  const { cursor, observed_at: _observed, ...lists } = body ?? {};
  const { seq } = gateway.head.cursor;
  if (!String(cursor).endsWith(`-${seq}`)) throw new Error(`REST is at ${cursor}, the head at ${seq}`);
  if (!truth.isHeld(seq, { channels: "*" }, lists)) throw new Error("REST does not serve the market's state");
  for (const client of clients) {
    client.compare();
    const { resets } = client.tally;
    if (!isShort && resets > 0)
      throw new Error(`${client.habit.name}: ${resets} resets, though the log held all`);
  }
}

function tallyOf({ clients, proxy }: Scene, looks: number): ChaosTally {
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
    passedMs: looks * LOOK_MS,
  };
}
