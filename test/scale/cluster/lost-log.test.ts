import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createLogger } from "../../../src/app/server/create-logger.ts";
import { createConfig, type Gateway, startGateway } from "../../../src/index.ts";
import { HoppingClient } from "../../support/clients/hopping-client.ts";
import { expectOneState } from "../../support/expect/one-state.ts";
import { IS_SOAK } from "../../support/law-runs.ts";
import { createChance } from "../../support/random/chance.ts";
import { eventually } from "../../support/time/waiters.ts";
import { pumpedSettings } from "../../support/world/pumped-market.ts";
import { ask, HAS_REDIS, type RedisServer, startRedis } from "./redis-servers.ts";

const [LOG, CHECKPOINT] = ["fw:{flarewire}:log", "fw:{flarewire}:checkpoint"];
const LIMIT_MS = 5_000;
/** Higher than the term of any leader in this test. */
const HIGH_TERM = 1_000;

const lines: string[] = [];
const logger = createLogger("info", { write: (line) => void lines.push(line) });
const ends: (() => unknown)[] = [];

async function startServer(): Promise<RedisServer> {
  const server = await startRedis();
  ends.push(() => server.dispose());
  return server;
}

/** Starts a gateway on a recorded market at 500 times its speed. Resolves when it is ready. */
async function startNode({ port }: RedisServer): Promise<Gateway> {
  const config = createConfig({
    port: 0,
    drain: "0",
    compression: false,
    cluster: `redis://127.0.0.1:${port}`,
    ...pumpedSettings(),
    speed: 500,
    heartbeat: "1s",
  });
  const gateway = await startGateway(config, { logger });
  ends.push(() => gateway.stop());
  await eventually(
    () => gateway.head.ready,
    () => gateway.freshness(),
  );
  return gateway;
}

const entriesOf = ({ port }: RedisServer) => ask(port, (redis) => redis.xlen(LOG));
const storedOffset = ({ port }: RedisServer) =>
  ask(port, async (redis) => Number(await redis.hget(CHECKPOINT, "offset")));

async function metricOf({ url }: Gateway, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(text.split(`\nflarewire_cluster_${name} `)[1]?.split("\n")[0]);
}

const epochOf = ({ head }: Gateway) => head.cursor.epoch;

describe.skipIf(!HAS_REDIS)("gateways whose server lost the log, with clients on all transports", () => {
  let server: RedisServer;
  let other: RedisServer;
  /** The running gateways. The last one leads. */
  const nodes: Gateway[] = [];
  const clients = [1, 2].map(
    (seed) => new HoppingClient(() => nodes.map(({ url }) => url), createChance(seed)),
  );
  let following: readonly Promise<void>[];
  /** Directories with copies of the server's files, and of another cluster's files. */
  let [old, short] = ["", ""];
  let shortEntries = 0;
  beforeAll(async () => {
    [server, other] = [await startServer(), await startServer()];
    await startNode(other);
    await eventually(
      async () => (await storedOffset(other)) > 0,
      () => "nothing stored",
    );
    await ask(other.port, (redis) => redis.hset(CHECKPOINT, "term", HIGH_TERM));
    short = other.backup();
    shortEntries = await entriesOf(other);
    nodes.push(await startNode(server));
    old = server.backup();
    following = clients.map((client) => client.follow());
  });
  afterAll(async () => {
    for (const client of clients) client.end();
    for (const end of ends.splice(0).toReversed()) await end();
    await Promise.all(following ?? []);
  });

  /** Resolves when each client has applied twenty more events. */
  async function moves(): Promise<void> {
    const targets = clients.map(({ applied }) => applied.length + 20);
    await expect
      .poll(() => clients.every(({ applied }, index) => applied.length > (targets[index] ?? 0)))
      .toBe(true);
  }

  /** Replaces the leader with a new node, which remembers nothing from before the stored state. */
  async function replaceLeader(): Promise<Gateway> {
    const entries = await entriesOf(server);
    const young = await startNode(server);
    nodes.push(young);
    const [last] = nodes.splice(0, nodes.length - 1);
    await last?.stop();
    await expect.poll(() => metricOf(young, "leader")).toBe(1);
    await expect.poll(() => storedOffset(server)).toBeGreaterThan(entries);
    await moves();
    return young;
  }

  /**
   * Runs `lose` under this leader. Expects a new epoch, which is logged and counted, and that each
   * client is reset and gets events.
   */
  async function expectNewEpoch(node: Gateway, what: string, lose: () => Promise<void>): Promise<void> {
    const [epoch, resets, epochs] = [epochOf(node), clients.map((one) => one.resets), lines.length];
    const count = await metricOf(node, "epochs_total");
    await lose();
    const startedAt = performance.now();
    await expect.poll(() => epochOf(node)).not.toBe(epoch);
    expect(await metricOf(node, "epochs_total")).toBeGreaterThan(count);
    expect(lines.slice(epochs).join("")).toContain("the cluster has a new epoch");
    const reportedMs = Math.round(performance.now() - startedAt);
    await expect.poll(() => clients.every((one, index) => one.resets > (resets[index] ?? 0))).toBe(true);
    const resetMs = Math.round(performance.now() - startedAt);
    await moves();
    const movedMs = Math.round(performance.now() - startedAt);
    process.stdout.write(
      `${what}: new epoch after ${reportedMs} ms, resets ${resetMs}, twenty events ${movedMs}\n`,
    );
    expect(reportedMs).toBeLessThan(LIMIT_MS);
    const late = await startNode(server);
    await expect.poll(() => epochOf(late)).toBe(epochOf(node));
    for (const client of clients) expect(client.trouble).toEqual([]);
    await late.stop();
  }

  test("[L3] after a restore from an old copy, a node rewrites the log's end from memory and logs it; no client is reset", async () => {
    const [node] = nodes;
    if (!node) throw new Error("no node");
    await moves();
    const epoch = epochOf(node);
    await server.restore(old);
    const startedAt = performance.now();
    await expect.poll(() => metricOf(node, "repairs_total")).toBeGreaterThan(0);
    const repairedMs = Math.round(performance.now() - startedAt);
    process.stdout.write(`restored from an old copy: repaired after ${repairedMs} ms\n`);
    expect(repairedMs).toBeLessThan(LIMIT_MS);
    await moves();
    expect(lines.filter((line) => line.includes("writing them again from memory"))).toHaveLength(1);
    expect(epochOf(node)).toBe(epoch);
    for (const client of clients) expect([client.trouble, client.resets]).toEqual([[], 1]);
  });

  test("[L3] after a restore from a copy older than the leader's memory, a new epoch begins, is logged, and resets clients", async () => {
    await replaceLeader();
    const node = await replaceLeader();
    await expectNewEpoch(node, "restored from an older copy", () => server.restore(old));
  });

  test.runIf(IS_SOAK)(
    "[L3] after the server is emptied, a new epoch begins, is logged, and resets clients",
    async () => {
      const node = await replaceLeader();
      await expectNewEpoch(node, "emptied", () =>
        ask(server.port, async (redis) => void (await redis.flushall())),
      );
    },
  );

  test.runIf(IS_SOAK)(
    "[L3] after a restore of another cluster's shorter log and higher term, a new epoch begins, and its state is stored",
    async () => {
      const node = await replaceLeader();
      await expect.poll(() => entriesOf(server)).toBeGreaterThan(shortEntries + 1);
      await expectNewEpoch(node, "another cluster's shorter log", () => server.restore(short));
      await expect.poll(() => storedOffset(server)).toBeGreaterThan(shortEntries);
    },
  );

  test("[L3] after a restore of another cluster's longer log, a new epoch begins, and clients match the node's state", async () => {
    const [node] = nodes;
    if (!node) throw new Error("no node");
    const entries = await entriesOf(server);
    await expect.poll(() => entriesOf(other)).toBeGreaterThan(entries);
    const long = other.backup();
    await expectNewEpoch(node, "another cluster's longer log", () => server.restore(long));
    for (const client of clients) client.end();
    await Promise.all(following);
    for (const client of clients) {
      client.base = node.url;
      await client.connect();
      await expectOneState(node.url, client);
      await client.disconnect();
    }
  });
});
