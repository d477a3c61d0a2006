import { Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import Fastify from "fastify";
import { expect, test } from "vitest";
import { KeyAccessPolicy } from "../../src/http/index.ts";
import { type Key, mintSecret } from "../../src/keys/index.ts";
import { FlarewireError } from "../../src/protocol/index.ts";
import { RemoteKeys, RemoteRegistry } from "../../src/workers/index.ts";
import type { ToWorker } from "../../src/workers/messages.ts";
import { createGc } from "../support/create-gc.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { linked } from "./linked.ts";

const ACCESS = { plan: undefined, key: undefined, ticket: undefined };

test("answers that come in another order reach their questions, and an error keeps its code and bound", async () => {
  const { link, say, answer } = linked();
  const [first, second, third] = [1, 2, 3].map((n) => link.ask({ kind: "issue", keyId: `${n}` }));
  answer(1, "two");
  answer(0, "one");
  const error = { code: "over-capacity", message: "full", bound: "10 in all" } as const;
  say({ type: "answer", id: 3, answer: { error } });
  expect([await first, await second]).toEqual(["one", "two"]);
  const fault = await third?.catch((cause: unknown) => cause);
  expect(fault).toBeInstanceOf(FlarewireError);
  expect(fault).toMatchObject(error);
});

test("a question that was answered costs nothing afterwards", async () => {
  const { link, sent, answer } = linked();
  const gc = createGc();
  const heldAfter = async (questions: number) => {
    for (let n = 0; n < questions; n += 1) {
      const asked = link.ask({ kind: "metrics" });
      answer(0, "answer");
      await asked;
      sent.length = 0;
    }
    gc();
    return process.memoryUsage().heapUsed;
  };
  const before = await heldAfter(1_000);
  // Those that are not let go are 100 bytes each at least.
  expect((await heldAfter(40_000)) - before).toBeLessThan(2_000_000);
});

test("events that come before somebody listens are heard first, and once; everything else is passed on", () => {
  const { link, say, other } = linked();
  const batch = (first: number): ToWorker => ({
    ...{
      type: "batch",
      first,
      emittedAtMs: [],
      run: undefined,
      tails: Buffer.of(),
      ends: [],
      observedAtMs: 0,
    },
  });
  say(batch(1));
  say(batch(2));
  say({ type: "drain" });
  const heard: number[] = [];
  link.onFeed((message) => message.type === "batch" && heard.push(message.first));
  say(batch(3));
  link.onFeed((message) => message.type === "batch" && heard.push(message.first));
  expect([heard, other]).toEqual([[1, 2, 3], ["drain"]]);
});

test("each connection that is handed over is acknowledged, one that ended on the way too, and one that nobody takes is closed", () => {
  const { link, say, sent } = linked();
  const [early, late] = [new Socket(), new Socket()];
  say({ type: "connection" }, early);
  expect(early.destroyed).toBe(true);
  const taken: Socket[] = [];
  link.onConnection((socket) => taken.push(socket));
  say({ type: "connection" }, late);
  say({ type: "connection" });
  expect(taken).toEqual([late]);
  expect(sent).toEqual([{ type: "taken" }, { type: "taken" }, { type: "taken" }]);
});

test("[W33] a place is given back once, when its connection ends, and one that was refused never", async () => {
  const { link, answer, left } = linked();
  const places = new RemoteRegistry(link, () => 0);
  const [kept, refused] = [new Socket(), new Socket()];
  const limiter = [kept, refused].map((raw) => places.admit(raw, "a", undefined, ACCESS));
  answer(0, undefined);
  answer(1, { kind: "full", bound: "1 in all", reason: "streams" });
  expect(await Promise.all(limiter)).toEqual([undefined, expect.objectContaining({ kind: "full" })]);
  expect(places.slotOf(kept)?.address).toBe("a");
  expect(places.slotOf(refused)).toBeUndefined();
  for (const socket of [kept, refused]) socket.destroy();
  await turn();
  expect(left()).toEqual([1]);
  const holder = { address: "a", key: undefined, end: () => {} };
  const waits = places.acquire(holder);
  answer(2, undefined);
  await waits;
  places.release(holder);
  places.release(holder);
  expect(left()).toEqual([1, 3]);
});

test("[W32] a place that the primary ends hears why, and one that it cuts is closed; of a wait nothing is cut", async () => {
  const { link, answer } = linked();
  const places = new RemoteRegistry(link, () => 4);
  const raw = new Socket();
  const ends: string[] = [];
  const seat = places.admit(raw, "a", "name", ACCESS);
  const wait = places.acquire({ address: "a", key: undefined, end: (reason) => ends.push(reason) });
  answer(0, undefined);
  answer(1, undefined);
  await Promise.all([seat, wait]);
  places.slotOf(raw)?.taken({ close: (reason) => ends.push(`place ${reason}`) });
  places.end(1, "superseded");
  places.end(2, "draining");
  places.end(3, "draining");
  places.cut(2);
  expect([ends, raw.destroyed]).toEqual([["place superseded", "draining"], false]);
  places.cut(1);
  expect(raw.destroyed).toBe(true);
});

test("[K6] requests with a key are reported every 50 ms, each once, and no more after the stop", async () => {
  const { link, sent } = linked();
  const clock = new ManualClock();
  const { text, id, digest } = mintSecret("fw");
  const key: Key = { id, plan: "pro", sha256: digest.toString("hex"), requests_per_minute: 5 };
  const keys = new RemoteKeys({ link, clock, anonymous: "free", keys: [key], ends: 0, spent: [] });
  const app = Fastify();
  app.get("/", (request, reply) => void reply.send(keys.door.admit(request, reply).plan));
  const ask = async (count: number) => {
    for (let at = 0; at < count; at += 1)
      await app.inject({ url: "/", headers: { authorization: `Bearer ${text}` } });
  };
  await ask(2);
  clock.advance(49);
  expect(sent).toEqual([]);
  clock.advance(1);
  expect(sent).toEqual([{ type: "counted", keyId: id, requests: 2 }]);
  clock.advance(50);
  await ask(1);
  clock.advance(50);
  // The rate is spent after two more: what is refused is not counted.
  await ask(4);
  clock.advance(50);
  expect(sent.map((message) => message.type === "counted" && message.requests)).toEqual([2, 1, 2]);
  clock.advance(60_000);
  keys.stop();
  await ask(1);
  clock.advance(1_000);
  expect(sent).toHaveLength(3);
  await app.close();
});

test("[K6] what a key spent elsewhere counts at a worker that begins, until the key ends", async () => {
  const { link } = linked();
  const { id, digest } = mintSecret("fw");
  const key: Key = { id, plan: "pro", sha256: digest.toString("hex"), requests_per_minute: 5 };
  const spent = [{ keyId: id, requests: 3 }];
  const clock = new ManualClock();
  const keys = new RemoteKeys({ link, clock, anonymous: "free", keys: [key], ends: 4, spent });
  keys.countElsewhere(id, 1);
  const door = keys.door instanceof KeyAccessPolicy ? keys.door : undefined;
  expect(door?.spent).toEqual([{ keyId: id, requests: 4 }]);
  keys.end({ type: "ended", keyId: id, isGone: false, ends: 5 });
  expect([keys.ends, door?.spent.length]).toEqual([5, 1]);
  keys.end({ type: "ended", keyId: id, isGone: true, ends: 6 });
  expect([keys.ends, door?.spent.length]).toEqual([6, 0]);
  keys.stop();
});
