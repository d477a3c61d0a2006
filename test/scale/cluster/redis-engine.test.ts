import { once } from "node:events";
import { createConnection, createServer } from "node:net";
import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Notify } from "../../../src/base/lib/notify.ts";
import { systemClock } from "../../../src/base/lib/time/clock.ts";
import type { Engine, LogNews, Notice } from "../../../src/scale/cluster/engine.ts";
import { type Entry, LOG_START, type Position } from "../../../src/scale/cluster/entry.ts";
import { seal } from "../../../src/scale/cluster/entry-text.ts";
import { keyOf, RedisEngine } from "../../../src/scale/cluster/redis/redis-engine.ts";
import { HEAD_SCRIPT } from "../../../src/scale/cluster/redis/redis-scripts.ts";
import { ask, HAS_REDIS, type RedisServer, startRedis } from "./redis-servers.ts";

const { signal } = new AbortController();
const REJECTED = "rejects a command: OOM ";

function entryAfter(position: Position, nonce: string, body = ""): Entry {
  const header = {
    kind: "batch",
    term: 1,
    by: "a",
    committed: 0,
    epoch: "e1",
    nonce,
    prev: position.hash,
  } as const;
  return seal(position.offset + 1, header, Buffer.from(body));
}

function chain(count: number): readonly Entry[] {
  const entries: Entry[] = [];
  for (let index = 0; index < count; index++)
    entries.push(entryAfter(entries.at(-1) ?? LOG_START, `n${index}`, `body ${index}`));
  return entries;
}

/** Reads until the reader reports the log's end. */
async function readAll(engine: Engine, from: number): Promise<readonly LogNews[]> {
  const news: LogNews[] = [];
  for await (const one of engine.read(from, signal)) {
    news.push(one);
    if (one.kind === "idle") break;
  }
  return news;
}

describe.skipIf(!HAS_REDIS)("a log on Redis", () => {
  let server: RedisServer;
  let engine: Engine;
  let names = 0;
  const open = (name: string, acknowledgements = 0, notify: Notify = () => {}) =>
    new RedisEngine({
      connection: { host: "127.0.0.1", port: server.port },
      name,
      acknowledgements,
      retained: 1_000,
      clock: systemClock,
      notify,
    });

  beforeAll(async () => {
    server = await startRedis();
  });
  beforeEach(async () => {
    await engine?.close();
    engine = open(`test${++names}`);
  });
  afterAll(async () => {
    await engine.close();
    await server.dispose();
  });

  test("a reader returns the entries as written, in order, from any offset, and then the log's end", async () => {
    const entries = chain(150);
    for (const entry of entries) expect(await engine.append(entry, signal)).toEqual({ kind: "appended" });
    const [head = LOG_START] = entries.slice(-1);
    const expected = entries.map((entry) => ({ kind: "entry", entry }));
    const idle = { kind: "idle", head: { offset: 150, hash: head.hash }, isWritable: true };
    expect(await readAll(engine, 1)).toEqual([...expected, idle]);
    expect(await readAll(engine, 100)).toEqual([...expected.slice(99), idle]);
    expect(await readAll(engine, 151)).toEqual([idle]);
  });

  test("[I1] an entry is appended only after its own predecessor", async () => {
    const [first = entryAfter(LOG_START, ""), second = first, third = second] = chain(3);
    expect(await engine.append(second, signal)).toEqual({ kind: "truncated", head: LOG_START });
    await engine.append(first, signal);
    expect(await engine.append(entryAfter(LOG_START, "other"), signal)).toEqual({ kind: "fenced" });
    expect(await engine.append(entryAfter({ offset: 1, hash: "other" }, "x"), signal)).toEqual({
      kind: "fenced",
    });
    expect(await engine.append(third, signal)).toEqual({
      kind: "truncated",
      head: { offset: 1, hash: first.hash },
    });
    await engine.append(second, signal);
    expect(await engine.append(entryAfter(first, "other"), signal)).toEqual({ kind: "fenced" });
  });

  test("[I1] one of 50 concurrent appends at the same offset succeeds, and the others are fenced", async () => {
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, index) => engine.append(entryAfter(LOG_START, `n${index}`), signal)),
    );
    expect(results.filter(({ kind }) => kind === "appended")).toHaveLength(1);
    expect(results.filter(({ kind }) => kind === "fenced")).toHaveLength(49);
  });

  test("an entry that is appended again is not written twice", async () => {
    const [first = entryAfter(LOG_START, ""), second = first] = chain(2);
    for (const entry of [first, first, second, first, second])
      expect(await engine.append(entry, signal)).toEqual({ kind: "appended" });
    expect(await readAll(engine, 1)).toHaveLength(3);
  });

  test("[I2] an append resolves only when enough replicas have the entry", async () => {
    const name = `acknowledged${names}`;
    const messages: string[] = [];
    const careful = open(name, 1, (_level, message) => messages.push(message));
    const [first = entryAfter(LOG_START, "")] = chain(1);
    let isDone = false;
    const appending = careful.append(first, signal).then((result) => {
      isDone = true;
      return result;
    });
    expect((await readAll(careful, 1)).map((news) => news.kind !== "idle" || news.isWritable)).toEqual([
      true,
      false,
    ]);
    await expect
      .poll(() => messages)
      .toContain("the cluster's server rejects a command: too few replicas have the entry");
    expect(isDone).toBe(false);
    const replica = await startRedis({ replicaof: `127.0.0.1 ${server.port}` });
    expect(await appending).toEqual({ kind: "appended" });
    expect((await readAll(careful, 2)).at(-1)).toMatchObject({ kind: "idle", isWritable: true });
    const redis = new Redis({ port: replica.port });
    expect(await redis.xlen(`fw:{${name}}:log`)).toBe(1);
    redis.disconnect();
    await careful.close();
    await replica.dispose();
  });

  test("when the server is killed, an append waits for its restart, and a reader ends and can read again", async () => {
    const [first = entryAfter(LOG_START, ""), second = first] = chain(2);
    await engine.append(first, signal);
    const reading = engine.read(2, signal)[Symbol.asyncIterator]();
    expect((await reading.next()).value).toMatchObject({ kind: "idle" });
    await server.kill();
    const appending = engine.append(second, signal);
    for (let result = await reading.next(); !result.done; ) result = await reading.next();
    await server.start();
    expect(await appending).toEqual({ kind: "appended" });
    expect(await readAll(engine, 1)).toHaveLength(3);
  });

  test("a server that rejects writes is reported once, although it still answers readers", async () => {
    const messages: string[] = [];
    const count = (words: string) => messages.filter((message) => message.includes(words)).length;
    const reported = open(`test${names}`, 0, (_level, message) => messages.push(message));
    const [first = entryAfter(LOG_START, "")] = chain(1);
    await ask(server.port, (redis) => redis.config("SET", "maxmemory", "1"));
    try {
      const appending = reported.append(first, signal);
      await expect.poll(() => count(REJECTED)).toBe(1);
      await readAll(reported, 1);
      await readAll(reported, 1);
      await ask(server.port, (redis) => redis.config("SET", "maxmemory", "0"));
      expect(await appending).toEqual({ kind: "appended" });
      // A busy machine may be late with an answer, which is reported too.
      expect(count(REJECTED)).toBeLessThanOrEqual(1 + count("does not answer"));
      expect(messages.at(-1)).toBe("the cluster's server works again");
    } finally {
      await ask(server.port, (redis) => redis.config("SET", "maxmemory", "0"));
      await reported.close();
    }
  });

  test("a server that rejects only reads is reported once, although it accepts entries", async () => {
    const messages: string[] = [];
    const count = (words: string) => messages.filter((message) => message.includes(words)).length;
    const reported = open(`test${names}`, 0, (_level, message) => messages.push(message));
    const allow = (rule: string) =>
      ask(server.port, (redis) => redis.call("ACL", "SETUSER", "default", rule));
    await allow("-xread");
    try {
      for (const entry of chain(3)) {
        expect(await readAll(reported, 1)).toEqual([]);
        expect(await reported.append(entry, signal)).toEqual({ kind: "appended" });
      }
      expect(messages).toContainEqual(
        expect.stringContaining("the cluster's server rejects a command: NOPERM "),
      );
      // A busy machine may be late with an answer, which is reported too.
      const late = count("does not answer");
      expect([count("NOPERM") <= 1 + late, count("works again") <= late]).toEqual([true, true]);
      await allow("+xread");
      await readAll(reported, 1);
      expect(messages.at(-1)).toBe("the cluster's server works again");
    } finally {
      await allow("+@all");
      await reported.close();
    }
  });

  test("[I1] a checkpoint never replaces one of a later term or position", async () => {
    const at = (term: number, offset: number) => ({
      term,
      position: { offset, hash: "abc" },
      epoch: "e1",
      values: { state: Buffer.from(`${term}.${offset}`), other: Buffer.from([255]) },
    });
    expect(await engine.load(["state"], signal)).toBeUndefined();
    for (const [term, offset, result] of [
      ...([
        [2, 10, "stored"],
        [2, 9, "fenced"],
        [1, 99, "fenced"],
      ] as const),
      ...([
        [2, 10, "stored"],
        [3, 5, "stored"],
        [2, 20, "fenced"],
      ] as const),
    ])
      expect(await engine.store(at(term, offset)), `${term} ${offset}`).toBe(result);
    expect(await engine.load(["state", "other", "none"], signal)).toEqual(at(3, 5));
  });

  test("a later version's entry with further fields stays at the log's end, and stops readers and writers", async () => {
    const [first = entryAfter(LOG_START, "")] = chain(1);
    await engine.append(first, signal);
    const later = ["more", "1", "h", '{"v":2,"kind":"batch"}', "x", "abc"];
    await ask(server.port, (redis) => redis.xadd(keyOf(`test${names}`, "log"), "2-0", ...later));
    const [end] = await readAll(engine, 3);
    expect(end).toMatchObject({ kind: "idle", head: { offset: 2, hash: "abc" } });
    expect(await engine.append(entryAfter(first, "late"), signal)).toEqual({ kind: "fenced" });
    await expect(readAll(engine, 1)).rejects.toThrow("entry 2: its version is 2; this node reads 1");
  });

  test("one script call removes at most 1,000 of another program's entries, and an append waits until all are gone", async () => {
    const [first = entryAfter(LOG_START, ""), second = first] = chain(2);
    await engine.append(first, signal);
    const key = keyOf(`test${names}`, "log");
    await ask(server.port, async (redis) => {
      const writing = redis.pipeline();
      for (let count = 0; count < 3_500; count++) writing.xadd(key, "*", "name", "value");
      await writing.exec();
      expect(await redis.eval(HEAD_SCRIPT, 1, key)).toBeNull();
      expect(await redis.xlen(key)).toBe(2_501);
    });
    expect(await engine.append(second, signal)).toEqual({ kind: "appended" });
    expect(await readAll(engine, 1)).toHaveLength(3);
  });

  test("a reader reports the log's end when all of another program's entries are gone", async () => {
    const [first = entryAfter(LOG_START, "")] = chain(1);
    await engine.append(first, signal);
    const key = keyOf(`test${names}`, "log");
    await ask(server.port, async (redis) => {
      const writing = redis.pipeline();
      for (let count = 0; count < 2_500; count++) writing.xadd(key, "*", "name", "value");
      await writing.exec();
    });
    const { offset, hash } = first;
    expect(await readAll(engine, 2)).toEqual([{ kind: "idle", head: { offset, hash }, isWritable: true }]);
    expect(await ask(server.port, (redis) => redis.xlen(key))).toBe(1);
  });

  test("a stored checkpoint keeps no field of the one before, and a fenced one changes nothing", async () => {
    const key = keyOf(`test${names}`, "checkpoint");
    const at = (term: number) => ({ term, position: { offset: 6, hash: "abc" }, epoch: "e1", values: {} });
    const later = { term: "2", offset: "5", slices: "another version's", more: "1" };
    await ask(server.port, (redis) => redis.hset(key, later));
    expect(await engine.store(at(1))).toBe("fenced");
    expect(await ask(server.port, (redis) => redis.hgetall(key))).toEqual(later);
    expect(await engine.store(at(2))).toBe("stored");
    const stored = { term: "2", offset: "6", hash: "abc", epoch: "e1" };
    expect(await ask(server.port, (redis) => redis.hgetall(key))).toEqual(stored);
  });

  test("a checkpoint that the server refuses to store leaves the one before as it was", async () => {
    const key = keyOf(`test${names}`, "checkpoint");
    const old = { term: "2", offset: "5", state: "old" };
    const allow = (rule: string) =>
      ask(server.port, (redis) => redis.call("ACL", "SETUSER", "default", rule));
    await ask(server.port, (redis) => redis.hset(key, old));
    await allow("-hset");
    try {
      const next = { term: 3, position: { offset: 6, hash: "abc" }, epoch: "e1", values: {} };
      await expect(engine.store(next)).rejects.toThrow();
    } finally {
      await allow("+@all");
    }
    expect(await ask(server.port, (redis) => redis.hgetall(key))).toEqual(old);
  });

  test("nodes agree on a value for as long as it lasts, but not on one that lasts longer than theirs", async () => {
    const key = keyOf(`test${names}`, "market");
    expect(await engine.agree("first", 30_000, false)).toBe("first");
    expect(await engine.agree("second", 30_000, false)).toBe("first");
    for (const lastingMs of [90_000, 86_400_000]) {
      await ask(server.port, (redis) => redis.set(key, "stranger", "PX", lastingMs));
      expect(await engine.agree("second", 30_000, false)).toBe("second");
      expect(await ask(server.port, (redis) => redis.pttl(key))).toBeLessThanOrEqual(30_000);
    }
  });

  test("a subscribed node receives a notice of another node", async () => {
    const other = open(`test${names}`);
    const heard = Promise.withResolvers<Notice>();
    const notice: Notice = { kind: "commit", position: { offset: 7, hash: "abc" } };
    other.onNotice(heard.resolve);
    const stop = setInterval(() => engine.notify(notice), 20);
    expect(await heard.promise).toEqual(notice);
    clearInterval(stop);
    await other.close();
  });
});

test.skipIf(!HAS_REDIS)(
  "losing the connection during a new subscription causes no unhandled rejection",
  async ({ onTestFinished }) => {
    const server = await startRedis();
    onTestFinished(() => server.dispose());
    const lost: unknown[] = [];
    const note = (error: unknown) => lost.push(error);
    process.on("unhandledRejection", note);
    onTestFinished(() => void process.off("unhandledRejection", note));
    let subscriptions = 0;
    // Ends each connection when it subscribes, and the first one once it has subscribed.
    const relay = createServer((caller) => {
      const target = createConnection({ port: server.port, host: "127.0.0.1" });
      caller.on("data", (bytes) => {
        if (bytes.toString().includes("subscribe")) subscriptions += 1;
        if (bytes.toString().includes("subscribe") && subscriptions > 1) caller.destroy();
        else target.write(bytes);
      });
      target.on("data", (bytes) => {
        caller.write(bytes);
        if (bytes.toString().includes("subscribe")) setImmediate(() => caller.destroy());
      });
      for (const socket of [caller, target]) socket.on("error", () => {});
      caller.on("close", () => target.destroy());
    }).listen(0, "127.0.0.1");
    await once(relay, "listening");
    onTestFinished(() => void relay.close());
    const port = Number(Object(relay.address()).port);
    const engine = new RedisEngine({
      connection: { host: "127.0.0.1", port },
      name: "resubscribe",
      acknowledgements: 0,
      retained: 1_000,
      clock: systemClock,
      notify: () => {},
    });
    onTestFinished(() => engine.close());
    await expect.poll(() => subscriptions).toBeGreaterThan(3);
    expect(lost).toEqual([]);
  },
);
