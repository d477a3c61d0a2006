import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { ConnectionLimiter, ConnectionRegistry, type SlotAllocator } from "../../src/http/index.ts";
import { TicketTable } from "../../src/keys/index.ts";
import type { ToWorker } from "../../src/workers/index.ts";
import { WorkerConnections } from "../../src/workers/process/worker-connections.ts";
import { createGc } from "../support/create-gc.ts";
import { ManualClock } from "../support/manual-clock.ts";

const ADDRESS = "192.0.2.7";

/** The primary's side of two workers, and what these were told. */
function twoWorkers(max = 10) {
  const tickets = new TicketTable(new ManualClock());
  const limiter = new ConnectionLimiter(max, max);
  const ended = new Map<string, number>();
  const whole = {
    places: new ConnectionRegistry(limiter, (ticket) => tickets.spend(ticket)),
    tickets,
    metrics: undefined,
    hasEnded: (keyId: string, ends: number) => (ended.get(keyId) ?? 0) > ends,
  };
  const told: ToWorker[][] = [[], []];
  const [one, other] = [0, 1].map((at) => new WorkerConnections(whole, (message) => told[at]?.push(message)));
  if (!one || !other) throw new Error("two workers");
  return { one, other, told, limiter, tickets, ended };
}

const admit = (
  place: number,
  more: { name?: string; ticket?: string; keyId?: string; ends?: number } = {},
) => {
  const { name, ticket, keyId, ends = 0 } = more;
  const key = keyId === undefined ? undefined : { id: keyId, connections: 10, ends };
  return { kind: "admit", place, address: ADDRESS, name, key, ticket } as const;
};

test("[W32] [W33] places are counted over all workers, a client's own is taken over from another, and what a worker had is free when it is gone", async () => {
  const { one, other, told, limiter } = twoWorkers(2);
  expect(await one.answer(admit(1, { name: "client-of-mine" }))).toBeUndefined();
  expect(await one.answer(admit(2))).toBeUndefined();
  expect(await other.answer(admit(1))).toEqual({ kind: "full", bound: "2 in all", reason: "streams" });
  expect(await other.answer(admit(2, { name: "client-of-mine" }))).toBeUndefined();
  expect(told).toEqual([[{ type: "end", place: 1, reason: "superseded" }], []]);
  // Superseded, it has no seat to give back when it ends.
  one.left(1);
  expect(limiter.taken).toBe(2);
  expect(await other.answer({ kind: "acquire", place: 3, address: ADDRESS, key: undefined })).toMatchObject({
    kind: "full",
  });
  one.leaveAll();
  expect(limiter.taken).toBe(1);
  expect(await other.answer({ kind: "acquire", place: 4, address: ADDRESS, key: undefined })).toBeUndefined();
  other.leaveAll();
  expect(limiter.taken).toBe(0);
});

test("[K4] a ticket is spent by the first that is seated with it, not by who is refused for another reason", async () => {
  const { one, other, tickets } = twoWorkers(1);
  const { text } = tickets.issue("0a0a0a0a");
  expect(await one.answer({ kind: "holder", ticket: text })).toBe("0a0a0a0a");
  expect(await one.answer(admit(1))).toBeUndefined();
  expect(await other.answer(admit(1, { ticket: text }))).toMatchObject({ kind: "full" });
  one.left(1);
  expect(await other.answer(admit(2, { ticket: text }))).toBeUndefined();
  other.left(2);
  expect(await one.answer(admit(3, { ticket: text }))).toEqual({ kind: "spent" });
  expect(await one.answer({ kind: "holder", ticket: text })).toBeUndefined();
  expect(await one.answer(admit(4))).toBeUndefined();
});

test("[K7] who was let in before the worker heard that the key had ended is not seated", async () => {
  const { one, limiter, ended } = twoWorkers();
  expect(await one.answer(admit(1, { keyId: "0a0a0a0a" }))).toBeUndefined();
  limiter.endAll("0a0a0a0a", "unauthorized");
  ended.set("0a0a0a0a", 1);
  expect(await one.answer(admit(2, { keyId: "0a0a0a0a" }))).toEqual({ kind: "ended" });
  const key = { id: "0a0a0a0a", connections: 1, ends: 0 };
  expect(await one.answer({ kind: "acquire", place: 3, address: ADDRESS, key })).toEqual({ kind: "ended" });
  expect(await one.answer(admit(4, { keyId: "0b0b0b0b" }))).toBeUndefined();
  // It heard, and the key, with another plan, let it in.
  expect(await one.answer(admit(5, { keyId: "0a0a0a0a", ends: 1 }))).toBeUndefined();
});

test("[W33] a stream that was refused costs the primary nothing afterwards, however many are", async () => {
  const { max, wires, seen } = refusing();
  for (let place = 1; place <= max; place += 1) await wires.answer(admit(place));
  expect(seen).toHaveLength(max);
  await turn();
  createGc()();
  expect(seen.filter((wire) => wire.deref() !== undefined)).toEqual([]);
  wires.leaveAll();
});

/** A worker's side at the primary, where every place is refused, and the connections that it asked places for. */
function refusing() {
  const seen: WeakRef<object>[] = [];
  const places: SlotAllocator = {
    admit: (wire) => {
      seen.push(new WeakRef(wire));
      return { kind: "full", bound: "0 in all", reason: "streams" };
    },
    slotOf: () => undefined,
    acquire: () => undefined,
    release: () => {},
  };
  const whole = { places, tickets: new TicketTable(new ManualClock()), metrics: undefined };
  return { max: 20, wires: new WorkerConnections({ ...whole, hasEnded: () => false }, () => {}), seen };
}
