import { Socket } from "node:net";
import { expect, test } from "vitest";
import { FlarewireError } from "../../src/protocol/index.ts";
import type { ToWorker } from "../../src/workers/messages.ts";
import { createGc } from "../support/create-gc.ts";
import { linked } from "./linked.ts";

test("answers in any order reach their requests, and an error keeps its code and bound", async () => {
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

test("events that arrive before the listener is set reach it first, and once; other messages are passed on", () => {
  const { link, say, other } = linked();
  const batch = (observedAtMs: number): ToWorker => ({ type: "batch", records: [], observedAtMs });
  say(batch(1));
  say(batch(2));
  say({ type: "drain" });
  const heard: number[] = [];
  link.onUpdate((message) => message.type === "batch" && heard.push(message.observedAtMs));
  say(batch(3));
  link.onUpdate((message) => message.type === "batch" && heard.push(message.observedAtMs));
  expect([heard, other]).toEqual([[1, 2, 3], ["drain"]]);
});

test("each connection that is handed over is acknowledged, even if it closed in transit; without a listener it is closed", () => {
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
