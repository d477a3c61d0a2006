import { execFileSync } from "node:child_process";
import type { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createLogger } from "../../../src/app/server/create-logger.ts";
import { createConfig, type Gateway, startGateway } from "../../../src/index.ts";
import { HoppingClient } from "../../support/clients/hopping-client.ts";
import { createChance } from "../../support/random/chance.ts";
import { eventually } from "../../support/time/waiters.ts";
import { pumpedSettings } from "../../support/world/pumped-market.ts";
import { ask, HAS_REDIS, type RedisServer, startRedis, untilStored } from "./redis-servers.ts";

const [LOG, CHECKPOINT, TOUCH, MARKET] = ["log", "checkpoint", "touch", "market"].map(
  (what) => `fw:{flarewire}:${what}`,
) as [string, string, string, string];

/** A copy of a key as it was some time ago. */
type Old = (key: string) => Buffer;
type Damage = (redis: Redis, key: string, old: Old) => Promise<unknown>;

const remove: Damage = (redis, key) => redis.del(key);
const becomeText: Damage = (redis, key) => redis.set(key, "text");
// In one step, because a node could write the key again before it becomes a list.
const becomeList: Damage = (redis, key) => redis.multi().del(key).lpush(key, "one", "two").exec();
const restoreOld: Damage = (redis, key, old) => redis.restore(key, 0, old(key), "REPLACE");

/** Deletes entries, counted from the newest, which is number 0. */
async function deleteEntries(redis: Redis, from: number, to = Number.POSITIVE_INFINITY): Promise<void> {
  const rows = await redis.xrevrange(LOG, "+", "-");
  await redis.xdel(LOG, ...rows.slice(from, to).map(([id]) => id));
}

const setField =
  (name: string, value: string): Damage =>
  (redis, key) =>
    redis.hset(key, name, value);

const DAMAGES: readonly (readonly [key: string, what: string, damage: Damage])[] = [
  [LOG, "deleted", remove],
  [LOG, "a text", becomeText],
  [LOG, "a list", becomeList],
  [LOG, "without its newest entries", (redis) => deleteEntries(redis, 0, 5)],
  [LOG, "without its oldest entries", (redis) => redis.xtrim(LOG, "MAXLEN", 3)],
  [LOG, "without some entries in the middle", (redis) => deleteEntries(redis, 2, 4)],
  [LOG, "without any entry", (redis) => deleteEntries(redis, 0)],
  [LOG, "with a stranger's entry", (redis) => redis.xadd(LOG, "*", "name", "value")],
  [LOG, "an old copy", restoreOld],
  [CHECKPOINT, "deleted", remove],
  [CHECKPOINT, "a text", becomeText],
  [CHECKPOINT, "a list", becomeList],
  [CHECKPOINT, "without its term", (redis) => redis.hdel(CHECKPOINT, "term")],
  [CHECKPOINT, "with a term that is no number", setField("term", "text")],
  [CHECKPOINT, "with an offset that is no number", setField("offset", "text")],
  [CHECKPOINT, "with a later term", setField("term", "1000")],
  [
    CHECKPOINT,
    "with a later term and an unreadable log",
    (redis) => redis.hset(CHECKPOINT, "term", 1_000, "log", "text"),
  ],
  [CHECKPOINT, "with an unreadable state", setField("state", "text")],
  [CHECKPOINT, "with an unreadable log", setField("log", "text")],
  [CHECKPOINT, "with a stranger's field", setField("name", "value")],
  [CHECKPOINT, "an old copy", restoreOld],
  [TOUCH, "deleted", remove],
  [TOUCH, "a list", becomeList],
  [MARKET, "deleted", remove],
  [MARKET, "a text", becomeText],
  [MARKET, "a list", becomeList],
  [MARKET, "an old copy", restoreOld],
];

const lines: string[] = [];
const logger = createLogger("info", { write: (line) => void lines.push(line) });
const ends: (() => unknown)[] = [];

async function startNode({ port }: RedisServer): Promise<Gateway> {
  const cluster = `redis://127.0.0.1:${port}`;
  const own = { port: 0, drain: "0", compression: false, heartbeat: "1s", cluster } as const;
  const gateway = await startGateway(createConfig({ ...own, ...pumpedSettings(), speed: 500 }), { logger });
  ends.push(() => gateway.stop());
  return gateway;
}

describe.skipIf(!HAS_REDIS)("a damaged key of a cluster, with clients on all transports", () => {
  let server: RedisServer;
  const nodes: Gateway[] = [];
  const clients = [1, 2].map(
    (seed) => new HoppingClient(() => nodes.map(({ url }) => url), createChance(seed)),
  );
  let following: readonly Promise<void>[];
  const copies = new Map<string, Buffer>();

  /** Resolves when each client has applied ten more events. */
  async function moves(): Promise<number> {
    const startedAt = performance.now();
    const targets = clients.map(({ applied }) => applied.length + 10);
    await eventually(
      () => clients.every(({ applied }, index) => applied.length >= (targets[index] ?? 0)),
      () => [...nodes.map((node) => node.freshness()), ...lines.slice(-8)],
    );
    return Math.round(performance.now() - startedAt);
  }

  beforeAll(async () => {
    server = await startRedis();
    ends.push(() => server.dispose());
    nodes.push(await startNode(server), await startNode(server));
    following = clients.map((client) => client.follow());
    await moves();
    await untilStored(server.port);
    for (const key of [LOG, CHECKPOINT, TOUCH, MARKET])
      copies.set(
        key,
        await ask(server.port, async (redis) => (await redis.dumpBuffer(key)) ?? Buffer.alloc(0)),
      );
  });
  afterAll(async () => {
    for (const client of clients) client.end();
    for (const end of ends.splice(0).toReversed()) await end();
    await Promise.all(following ?? []);
  });

  test.each(DAMAGES)(
    "[L3] %s %s: nodes publish again, admit a node that starts, and survive the loss of their leader",
    async (key, what, damage) => {
      await untilStored(server.port);
      const old = (name: string) => copies.get(name) ?? Buffer.alloc(0);
      await ask(server.port, (redis) => damage(redis, key, old));
      const first = await moves();
      const startedAt = performance.now();
      const young = await startNode(server);
      await eventually(
        async () => (await fetch(`${young.url}/readyz`)).ok,
        () => [young.freshness(), ...lines.slice(-8)],
      );
      const ready = Math.round(performance.now() - startedAt);
      nodes.push(young);
      await nodes.shift()?.stop();
      const second = await moves();
      process.stdout.write(`${key} ${what}: ten events ${first} ms, ready ${ready}, next leader ${second}\n`);
      for (const client of clients) expect(client.trouble).toEqual([]);
    },
  );

  test("an entry that no node can read: /readyz names a command, after which nodes publish again", async () => {
    await ask(server.port, (redis) => redis.xadd(LOG, "*", "x", "abc", "h", '{"v":1}', "b", ""));
    const reasons = () => nodes.map((node) => node.freshness().reason);
    await eventually(() => reasons().every((reason) => reason.includes("redis-cli")), reasons);
    const [node] = nodes;
    const response = await fetch(`${node?.url}/readyz`);
    const [, command = "", key = ""] = /run redis-cli (\w+) '([^']+)'/.exec(await response.text()) ?? [];
    expect([response.status, command, key]).toEqual([503, "DEL", LOG]);
    execFileSync("redis-cli", ["-p", `${server.port}`, command, key]);
    await moves();
    for (const client of clients) expect(client.trouble).toEqual([]);
  });
});
