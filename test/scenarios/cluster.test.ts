import { isDeepStrictEqual } from "node:util";
import { describe, expect, test } from "vitest";
import type { AnyFlare, Candle, FlareRecord, TokenDetails } from "../../src/base/model/index.ts";
import { EventBody } from "../../src/base/protocol/index.ts";
import { eventsOnServer, expectSameEvents } from "../scale/cluster/cluster-log.ts";
import { type GatewayProcess, ProcessCluster } from "../scale/cluster/process-cluster.ts";
import { HAS_REDIS } from "../scale/cluster/redis-servers.ts";
import { HoppingClient } from "../support/clients/hopping-client.ts";
import { expectOneState } from "../support/expect/one-state.ts";
import { createChance } from "../support/random/chance.ts";
import { newDirectory } from "../support/servers/edges.ts";
import { pumpedFlags } from "../support/world/pumped-market.ts";

/** Number of kills. CLUSTER_KILLS sets more for longer runs. */
const DEFAULT_KILLS = 3;
const KILLS = Number(process.env.CLUSTER_KILLS ?? DEFAULT_KILLS);
/** By default, every second kill hits the leader, which takes seconds to replace. */
const LEADER_EVERY = Number(process.env.CLUSTER_LEADER_EVERY ?? 2);
const NODES = KILLS > DEFAULT_KILLS ? 3 : 2;

/** Resolves when another node leads and has published an event. */
async function continuesWithout(cluster: ProcessCluster, paused: GatewayProcess): Promise<void> {
  await expect.poll(() => cluster.leader).not.toBe(paused);
  const seq = async () => {
    const { headers } = await fetch(`${cluster.leader?.url}/api/v1/flares`, { method: "HEAD" });
    return Number(headers.get("flarewire-cursor")?.split("-")[1]);
  };
  let before = Number.NaN;
  // There may be no leader for a moment.
  await expect.poll(async () => (before = await seq())).toBeGreaterThan(0);
  await expect.poll(seq).toBeGreaterThan(before);
}

/** Received data that a history stores: flares by id, and candles by token and minute. */
interface Received {
  readonly flares: ReadonlyMap<string, AnyFlare>;
  readonly candles: ReadonlyMap<string, ReadonlyMap<string, Candle>>;
}

function receivedBy(clients: readonly HoppingClient[]): Received {
  const events = [...new Map(clients.flatMap(({ delivered }) => [...delivered]))];
  const seqOf = ([cursor]: readonly [string, string]) => Number(cursor.split("-")[1]);
  const flares = new Map<string, AnyFlare>();
  const candles = new Map<string, Map<string, Candle>>();
  for (const [, text] of events.toSorted((a, b) => seqOf(a) - seqOf(b))) {
    const { name, data } = EventBody.parse(JSON.parse(text));
    if (name === "flare-finished") flares.set(data.flare.id, data.flare);
    if (name !== "candles-closed") continue;
    for (const { address, candles: own } of data.tokens) {
      const minutes = candles.get(address) ?? new Map<string, Candle>();
      candles.set(address, minutes);
      for (const candle of own) minutes.set(candle.open_at, candle);
    }
  }
  return { flares, candles };
}

/** Returns the received data that the history at this address does not have. */
async function missingAt(url: string, { flares, candles }: Received): Promise<readonly string[]> {
  const missing: string[] = [];
  const get = async (path: string) => (await fetch(`${url}/api/v1/${path}`)).json();
  for (const [id, flare] of flares) {
    const { flare: stored } = (await get(`flares/${id}`)) as Partial<FlareRecord>;
    if (!isDeepStrictEqual(stored, flare)) missing.push(`flare ${id}`);
  }
  for (const [address, minutes] of candles) {
    const { candles: stored = [] } = (await get(`tokens/bsc/${address}`)) as Partial<TokenDetails>;
    const byMinute = new Map(stored.map((candle) => [candle.open_at, candle]));
    for (const [minute, candle] of minutes)
      if (!isDeepStrictEqual(byMinute.get(minute), candle)) missing.push(`${address} at ${minute}`);
  }
  return missing;
}

/**
 * Times from the loss of a leader to the next leader's first entry, and to new events at clients.
 */
interface TakeOver {
  readonly leadsMs: number;
  readonly eventsMs: number;
}

function report(takeOvers: readonly TakeOver[]): void {
  const spread = (times: readonly number[]) => {
    const sorted = times.toSorted((a, b) => a - b);
    const at = (share: number) => sorted[Math.ceil(share * sorted.length) - 1];
    return `p50 ${at(0.5)}, p99 ${at(0.99)}, max ${sorted.at(-1)} ms`;
  };
  const leads = spread(takeOvers.map(({ leadsMs }) => leadsMs));
  const events = spread(takeOvers.map(({ eventsMs }) => eventsMs));
  process.stdout.write(
    `${takeOvers.length} leaders lost; next leader wrote after ${leads}; clients received events after ${events}\n`,
  );
}

/** A flare starts every four seconds. */
const MARKET = [...pumpedFlags(), ...["--drain", "0", "--speed", "300", "--loop", "--warmup", "2h"]];

describe.skipIf(!HAS_REDIS)("the gateway processes of a cluster", () => {
  test("[L3] keep one log while nodes and their server are killed or paused in turn: clients that move between nodes over all transports see no gap, repeat or reset, have the state that REST serves, and find each finished flare with its candles in every node's history", {
    timeout: 600_000 + KILLS * 10_000,
  }, async ({ onTestFinished }) => {
    await using cluster = await ProcessCluster.start(NODES, MARKET, newDirectory(onTestFinished));
    await expect.poll(() => cluster.leader).toBeDefined();
    const chance = createChance(Number(process.env.SEED ?? 1));
    const clients = [1, 2, 3].map(
      (seed) => new HoppingClient(() => cluster.running.map(({ url }) => url), createChance(seed)),
    );
    const following = clients.map((client) => client.follow());
    const seqs = () => clients.map(({ seq }) => seq);
    const untilEvents = async (more: number) => {
      const target = Math.max(...seqs()) + more;
      await expect.poll(() => Math.max(...seqs()), { interval: 10 }).toBeGreaterThan(target);
    };
    await untilEvents(20);
    const takeOvers: TakeOver[] = [];
    for (let kill = 1; kill <= KILLS; kill += 1) {
      const startedAt = Date.now();
      // The default kills are the server, the leader, and then a leader that is paused instead.
      const isLast = KILLS === DEFAULT_KILLS && kill === DEFAULT_KILLS;
      const isLeader = isLast || kill % LEADER_EVERY === 0;
      // There may be no leader for a moment.
      let leader: GatewayProcess | undefined;
      await expect.poll(() => (leader = cluster.leader)).toBeDefined();
      const victims = cluster.running.filter((node) => (node === leader) === isLeader);
      const [first, ...others] = victims;
      if (!first) throw new Error(`no node to kill: ${cluster.state}`);
      const victim = chance.pick([first, ...others]);
      const isPaused = isLast || (isLeader && kill % (2 * LEADER_EVERY) === 0);
      let leadsAt = 0;
      if (isPaused) victim.cli.child.kill("SIGSTOP");
      // The first kill hits the server.
      else if (isLeader || (kill > 1 && chance.happens(0.5))) await cluster.replace(victim);
      else {
        await cluster.server.kill();
        await cluster.server.start();
      }
      if (isLeader) leadsAt = await cluster.newLeaderAfter(victim);
      // All clients may be connected to the paused node, so check the next leader's log instead.
      if (isPaused) await continuesWithout(cluster, victim);
      else await untilEvents(chance.whole(1, 30));
      if (isLeader) takeOvers.push({ leadsMs: leadsAt - startedAt, eventsMs: Date.now() - startedAt });
      if (isPaused) victim.cli.child.kill("SIGCONT");
      if (isPaused) await cluster.steppedDown(victim);
      if (cluster.running.length < cluster.size - 1) await cluster.settled();
    }
    report(takeOvers);
    await cluster.settled();
    await expect.poll(() => receivedBy(clients).flares.size).toBeGreaterThan(0);
    for (const client of clients) client.end();
    await Promise.all(following);
    const log = await eventsOnServer(cluster.server.port);
    for (const client of clients) {
      expect(client.trouble).toEqual([]);
      expect(client.resets).toBe(1);
      expectSameEvents(client, log);
      for (const { url } of cluster.running) {
        client.base = url;
        await client.connect();
        await expectOneState(url, client);
        await client.disconnect();
      }
      expect(client.epochs.size).toBe(1);
    }
    const received = receivedBy(clients);
    expect(received.candles.size).toBeGreaterThan(0);
    for (const { url } of cluster.running) await expect.poll(() => missingAt(url, received)).toEqual([]);
  });
});
