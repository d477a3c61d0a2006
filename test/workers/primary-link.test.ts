import { Socket } from "node:net";
import { expect, test } from "vitest";
import { FlarewireError } from "../../src/base/protocol/index.ts";
import type { ToWorker } from "../../src/workers/messages.ts";
import { createGc } from "../support/create-gc.ts";
import { linked } from "./linked.ts";

test("responses in any order reach their requests, and an error keeps its code and bound", async () => {
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

test("an answered request uses no memory", async () => {
  const { link, sent, answer } = linked();
  const gc = createGc();
  const heapAfter = async (requests: number) => {
    for (let n = 0; n < requests; n += 1) {
      const asked = link.ask({ kind: "metrics" });
      answer(0, "answer");
      await asked;
      sent.length = 0;
    }
    gc();
    return process.memoryUsage().heapUsed;
  };
  const before = await heapAfter(1_000);
  // Each leaked request would take at least 100 bytes.
  expect((await heapAfter(40_000)) - before).toBeLessThan(2_000_000);
});

test("events that arrive before the listener is set are delivered to it first, and once; other messages are passed on", () => {
  const { link, say, other } = linked();
  const batch = (observedAtMs: number): ToWorker => ({ type: "batch", records: [], observedAtMs });
  say(batch(1));
  say(batch(2));
  say({ type: "drain" });
  const received: number[] = [];
  link.onUpdate((message) => message.type === "batch" && received.push(message.observedAtMs));
  say(batch(3));
  link.onUpdate((message) => message.type === "batch" && received.push(message.observedAtMs));
  expect([received, other]).toEqual([[1, 2, 3], ["drain"]]);
});

test("each handed-over connection is acknowledged, even if it closed in transit; without a listener it is closed", () => {
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
