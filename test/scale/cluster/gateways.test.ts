import { copyFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { type Clock, systemClock } from "../../../src/base/lib/time/clock.ts";
import type { Freshness } from "../../../src/base/protocol/index.ts";
import { type Config, createConfig, type Gateway, startGateway } from "../../../src/index.ts";
import { LedMarket } from "../../examples/led-gateway.ts";
import { IndependentClient } from "../../support/clients/independent-client.ts";
import { expectOneState } from "../../support/expect/one-state.ts";
import { IS_SOAK, shareOf } from "../../support/law-runs.ts";
import { newDirectory } from "../../support/servers/edges.ts";
import { pumpedSettings } from "../../support/world/pumped-market.ts";
import { ToldSource } from "../../support/world/told-source.ts";
import { ask, HAS_REDIS, type RedisServer, startRedis, untilStored } from "./redis-servers.ts";
import { endAfterEach, startServer } from "./started-servers.ts";

const LOG = "fw:{flarewire}:log";
const HOUR_BEHIND: Clock = { ...systemClock, now: () => Date.now() - 3_600_000 };
const ends = endAfterEach();

/** A source without data. */
class WarmingUp extends ToldSource {
  readonly info = new LedMarket().info;

  override freshness(): Freshness {
    const never = { observed_at: null, last_success_at: null, data_age_ms: 0 };
    return { state: "stale", reason: "warming up", ...never };
  }
}

/** Starts a gateway on a recorded market at 600 times its speed, or on the given source. */
async function startNode(server: RedisServer, source?: LedMarket): Promise<Gateway> {
  const gateway = await start(configOf(server), source);
  await expect.poll(() => gateway.head.ready).toBe(true);
  return gateway;
}

function configOf({ port }: RedisServer, more: { readonly file?: string } = {}): Config {
  return createConfig({
    port: 0,
    logLevel: "silent",
    drain: "0",
    compression: false,
    cluster: `redis://127.0.0.1:${port}`,
    ...pumpedSettings(),
    speed: 600,
    heartbeat: "1s",
    staleAfter: "3s",
    ...more,
  });
}

async function start(config: Config, source?: ToldSource, clock = systemClock): Promise<Gateway> {
  const gateway = await startGateway(config, { clock, ...(source ? { source } : {}) });
  ends.push(() => gateway.stop());
  return gateway;
}

async function connect({ url }: Gateway): Promise<IndependentClient> {
  const client = new IndependentClient(url);
  await client.connect();
  ends.push(() => client.disconnect());
  return client;
}

/** Moves a client to another gateway, and expects that it resumes in full from its cursor. */
async function hop(client: IndependentClient, { url, head }: Gateway): Promise<void> {
  await client.disconnect();
  client.base = url;
  // On a busy machine, a node may need longer for its first snapshot than a start waits.
  await expect.poll(() => head.ready).toBe(true);
  await client.connect();
  expect(client.answer).toMatchObject({ resumed: "full" });
}

const leads = async (node: Gateway) => (await metricsOf(node))("leader") === 1;

/** Returns a node's cluster metrics, by name without the prefix `flarewire_cluster_`. */
async function metricsOf({ url }: Gateway): Promise<(name: string) => number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return (name) => Number(text.split(`\nflarewire_cluster_${name} `)[1]?.split("\n")[0]);
}

function keys({ port }: RedisServer): Promise<readonly string[]> {
  return ask(port, (redis) => redis.keys("*"));
}

/** Returns the number of entries in the log. Until it is trimmed, that is its last offset. */
async function length({ port }: RedisServer): Promise<number> {
  return ask(port, (redis) => redis.xlen(LOG));
}

/** Removes the log's entries after an offset. */
async function cutOff({ port }: RedisServer, offset: number): Promise<void> {
  await ask(port, async (redis) => {
    const rows = await redis.xrange(LOG, `(${offset}-0`, "+");
    await redis.xdel(LOG, ...rows.map(([id]) => id));
    await redis.call("XSETID", LOG, `${offset}-0`);
  });
}

async function flush({ port }: RedisServer): Promise<void> {
  await ask(port, (redis) => redis.flushall());
}

describe.skipIf(!HAS_REDIS)("gateways with one Redis server", () => {
  test("[L2] serve one log: a client resumes in full from its cursor on another gateway, with the same state", async () => {
    const server = await startServer(ends);
    const first = await startNode(server);
    const second = await startNode(server);
    const third = IS_SOAK ? await startNode(server) : first;
    const client = await connect(first);
    for (const node of IS_SOAK ? [second, third, first, third] : [second, first]) {
      const { seq } = client;
      await client.until(() => client.seq > seq + 20);
      await hop(client, node);
      await expectOneState(node.url, client);
    }
  });

  test("[L3] continue the log without a reset when the leader stops, even if the next leader's clock is behind", async () => {
    const server = await startServer(ends);
    const first = await startNode(server);
    const second = await start(configOf(server), undefined, HOUR_BEHIND);
    const client = await connect(second);
    await client.until(() => client.seq > 50);
    await first.stop();
    const { seq } = client;
    await client.until(() => client.seq > seq + 100);
    await expectOneState(second.url, client);
    // The next leader's clock is an hour behind.
    const times = client.received.events.map(({ emitted_at }) => String(emitted_at));
    expect(times).toEqual(times.toSorted());
    expect(client.resets).toBe(1);
    const late = await startNode(server);
    await hop(client, late);
    await expectOneState(late.url, client);
  });

  test("a leader that cannot open its source hands over to a gateway that can", async ({
    onTestFinished,
  }) => {
    const server = await startServer(ends);
    const file = join(newDirectory(onTestFinished), "market.csv");
    copyFileSync("examples/README.md", file);
    const config = configOf(server, { file });
    rmSync(file);
    const unable = start(config);
    await expect.poll(() => keys(server)).toContain("fw:{flarewire}:log");
    const able = await startNode(server);
    await expect.poll(() => leads(able)).toBe(true);
    const client = await connect(await unable);
    await client.until(() => client.seq > 20);
    await expectOneState((await unable).url, client);
  });

  test("a leader whose source has no data yet reports the source's reason", async () => {
    const node = await start(configOf(await startServer(ends)), new WarmingUp());
    await expect.poll(() => node.freshness().reason).toBe("warming up");
  });

  test("[L3] a leader whose source fails permanently hands over without a client reset", async () => {
    const server = await startServer(ends);
    const market = new LedMarket();
    const failing = await startNode(server, market);
    const next = new LedMarket();
    const second = await startNode(server, next);
    const client = await connect(failing);
    market.start("ONE");
    await client.until(() => client.seq > 0);
    const { seq } = client;
    market.fail();
    await expect.poll(() => leads(second)).toBe(true);
    next.start("TWO");
    await client.until(() => client.seq > seq);
    await expectOneState(failing.url, client);
    expect(client.resets).toBe(1);
  });

  test("[L3] a gateway that starts after all have stopped resumes the log on the server", async () => {
    const server = await startServer(ends);
    const first = await startNode(server);
    const client = await connect(first);
    await client.until(() => client.seq > 200);
    await first.stop();
    expect(await keys(server)).toContain("fw:{flarewire}:checkpoint");
    const again = await startNode(server);
    await hop(client, again);
    const { seq } = client;
    await client.until(() => client.seq > seq + 50);
    await expectOneState(again.url, client);
  });

  test("serve REST and resumes while the server is down, and report stale but ready", async () => {
    const server = await startServer(ends);
    const [market, next] = [new LedMarket(), new LedMarket()];
    const first = await startNode(server, market);
    const second = await startNode(server, next);
    const client = await connect(second);
    market.start("ONE");
    await client.until(() => client.seq > 0);
    // If the server were killed during an append, one gateway could be an event behind.
    await expect.poll(() => first.head.cursor.seq).toBe(client.seq);
    await server.kill();
    const states = () => [first, second].map((node) => node.freshness().state);
    await expect.poll(states).toEqual(["stale", "stale"]);
    expect(second.freshness().reason).toBe("the cluster's servers do not answer");
    for (const node of [first, second]) {
      const ready = await fetch(`${node.url}/readyz`);
      expect([ready.status, await ready.json()]).toMatchObject([200, { status: "ready", state: "stale" }]);
      await hop(client, node);
      await expectOneState(node.url, client);
    }
    await server.start();
    const { seq } = client;
    for (const one of [market, next]) one.start("TWO");
    await client.until(() => client.seq > seq);
    await expect.poll(states).toEqual(["live", "live"]);
    await expectOneState(first.url, client);
    expect(client.resets).toBe(1);
  });

  test("[L3] repair an emptied server from memory, without a new epoch or a client reset", async () => {
    const server = await startServer(ends);
    const first = await startNode(server);
    const second = await startNode(server);
    const client = await connect(second);
    await client.until(() => client.seq > 50);
    const epochs = async () =>
      (await Promise.all([first, second].map(metricsOf))).map((of) => of("epochs_total"));
    const before = await epochs();
    await flush(server);
    const { seq } = client;
    await client.until(() => client.seq > seq + 50);
    await expectOneState(second.url, client);
    expect(client.resets).toBe(1);
    const counts = await Promise.all([first, second].map(metricsOf));
    const repairs = counts.map((of) => of("repairs_total"));
    expect(Math.max(...repairs)).toBeGreaterThan(0);
    expect(await epochs()).toEqual(before);
    // Otherwise a node that starts beside a slow leader would begin with what the log still has.
    await untilStored(server.port);
    const late = await startNode(server);
    await hop(client, late);
    await expectOneState(late.url, client);
    expect(first.head.cursor.epoch).toBe(late.head.cursor.epoch);
  });

  test("[L3] begin a new epoch with the current lists when the server lost more than the gateways remember", async () => {
    const server = await startServer(ends);
    const next = new LedMarket();
    const first = await startNode(server, new LedMarket());
    await expect.poll(() => keys(server)).toContain("fw:{flarewire}:checkpoint");
    // This gateway remembers nothing from before the checkpoint from which it starts.
    const second = await startNode(server, next);
    const client = await connect(second);
    await first.stop();
    next.start("ONE");
    await client.until(() => client.seq > 0);
    const { cursor, state: held } = client;
    await flush(server);
    await client.until(() => client.closeCode !== undefined);
    await client.connect();
    expect(client.received.answers.at(-1)).toMatchObject({ resumed: "reset" });
    expect(client.state).toEqual(held);
    const epochOf = (text: unknown) => String(text).split("-")[0];
    expect(epochOf(client.cursor)).not.toBe(epochOf(cursor));
    next.start("TWO");
    await client.until(() => client.state.flares?.pro?.length === 2);
    await expectOneState(second.url, client);
    expect(client.resets).toBe(2);
    expect((await metricsOf(second))("epochs_total")).toBe(1);
  });

  test("[W39] reset a client that has events lost from the log; a client without them resumes in full", async () => {
    const server = await startServer(ends);
    const first = await startNode(server);
    const behind = await connect(first);
    await behind.until(() => behind.seq > 50);
    await behind.disconnect();
    const ahead = await connect(first);
    const entries = await length(server);
    await expect.poll(() => length(server)).toBeGreaterThan(entries + 2);
    const head = first.head.cursor.seq;
    await ahead.until(() => ahead.seq >= head);
    await ahead.disconnect();
    await first.stop();
    await cutOff(server, entries);
    const second = await startNode(server);
    await expect.poll(() => second.head.cursor.seq).toBeGreaterThan(ahead.seq + 20);
    await hop(behind, second);
    await expectOneState(second.url, behind);
    expect(behind.resets).toBe(1);
    ahead.base = second.url;
    await ahead.connect();
    expect(ahead.received.answers.at(-1)).toMatchObject({
      resumed: "reset",
      lost: { reason: "epoch-changed" },
    });
    await expectOneState(second.url, ahead);
  });

  test("refuse a server whose eviction policy could drop parts of the log", async () => {
    const server = await startRedis({ "maxmemory-policy": "allkeys-lru" });
    ends.push(() => server.dispose());
    await expect(startNode(server)).rejects.toMatchObject({
      code: "invalid-setting",
      message: expect.stringContaining("maxmemory-policy allkeys-lru"),
    });
  });

  test("report in their metrics which one leads, and how many entries each has delivered", async () => {
    const server = await startServer(ends);
    const first = await startNode(server);
    const second = await startNode(server);
    const read = async (node: Gateway) => {
      const of = await metricsOf(node);
      expect([of("repairs_total"), of("forked")]).toEqual([0, 0]);
      return {
        ...{ leader: of("leader"), terms: of("terms_total"), entries: of("entries_total") },
        silence: of("silence_seconds"),
      };
    };
    const { entries, terms } = await read(first);
    expect(terms).toBeGreaterThan(0);
    await expect.poll(async () => (await read(second)).entries).toBeGreaterThan(entries);
    const both = () => Promise.all([first, second].map(read));
    // On a busy machine, the nodes may elect another leader.
    await expect.poll(async () => (await both()).map(({ leader }) => leader).toSorted()).toEqual([0, 1]);
    for (const node of [first, second])
      await expect.poll(async () => (await read(node)).silence).toBeLessThan(5);
  });

  const FAULTS = [
    ["OOM ", ["CONFIG", "SET", "maxmemory", "1"], ["CONFIG", "SET", "maxmemory", "0"]],
    ["READONLY ", ["REPLICAOF", "127.0.0.1", "1"], ["REPLICAOF", "NO", "ONE"]],
  ] as const;
  test.for(shareOf(FAULTS))(
    "report the cause in /readyz while the server rejects entries, and report live afterwards: %s",
    async ([error, fault, repair]) => {
      const server = await startServer(ends);
      const nodes = [await startNode(server), await startNode(server)];
      const command = ([name, ...args]: readonly [string, ...string[]]) =>
        ask(server.port, (redis) => redis.call(name, ...args));
      const readiness = async ({ url }: Gateway) => {
        const response = await fetch(`${url}/readyz`);
        const body = z.object({ state: z.string(), reason: z.string() }).parse(await response.json());
        return { status: response.status, ...body };
      };
      const cause = expect.stringContaining(`the cluster's server rejects a command: ${error}`);
      await command(fault);
      for (const node of nodes)
        await expect.poll(() => readiness(node)).toEqual({ status: 200, state: "stale", reason: cause });
      await command(repair);
      for (const node of nodes)
        await expect.poll(() => readiness(node)).toEqual({ status: 200, state: "live", reason: "" });
    },
  );

  test("stop while the server is down", async () => {
    const server = await startServer(ends);
    const first = await startNode(server);
    await server.kill();
    await expect.poll(() => first.freshness().state).toBe("stale");
    await first.stop();
  });
});
