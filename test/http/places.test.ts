import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { ConnectionLimiter, ConnectionRegistry, type Refusal } from "../../src/http/index.ts";

/** A connection, as places see one. */
class FakeWire extends EventEmitter<{ close: [] }> {
  isDestroyed = false;

  destroy(): void {
    this.isDestroyed = true;
  }
}

const KEY = { id: "0a0a0a0a", connections: 1 };

/** Places with the first client, `mine`, in them. */
function occupied(max: number, ofAddress: number, spend: (ticket: string) => boolean = () => true) {
  const limiter = new ConnectionLimiter(max, ofAddress);
  const places = new ConnectionRegistry(limiter, spend);
  const ends: string[] = [];
  const admit = (name: string | undefined, address = "192.0.2.7", ticket?: string, key?: typeof KEY) => {
    const wire = new FakeWire();
    const refusal = places.admit(wire, address, name, { plan: undefined, key, ticket }) as
      | Refusal
      | undefined;
    places.slotOf(wire)?.taken({ close: (reason) => ends.push(`${name} ${reason}`) });
    return { wire, refusal };
  };
  return { limiter, places, ends, admit };
}

test("[W32] a take-over that is refused leaves the client that stays its seat, however often it is tried", () => {
  const { limiter, ends, admit } = occupied(3, 3, () => false);
  const { wire } = admit("mine", undefined, undefined, KEY);
  for (let attempt = 0; attempt < 3; attempt += 1)
    expect(admit("mine", undefined, "spent", KEY).refusal).toEqual({ kind: "spent" });
  expect([limiter.taken, ends, wire.isDestroyed]).toEqual([1, [], false]);
  // It still counts for its key, and still ends with it.
  expect(admit("other", undefined, undefined, KEY).refusal).toMatchObject({ reason: "streams-of-key" });
  limiter.endAll(KEY.id, "unauthorized");
  expect(ends).toEqual(["mine unauthorized"]);
  wire.emit("close");
  expect(limiter.taken).toBe(0);
});

test("[W32] [W33] of a client that takes over again and again one seat is taken, and none when the last is gone", () => {
  const { limiter, ends, admit } = occupied(1, 1);
  const wires = Array.from({ length: 4 }, () => {
    const { wire, refusal } = admit("mine");
    expect(refusal).toBeUndefined();
    expect(limiter.taken).toBe(1);
    return wire;
  });
  expect(ends).toEqual(["mine superseded", "mine superseded", "mine superseded"]);
  // At most one that was superseded says farewell.
  expect(wires.map(({ isDestroyed }) => isDestroyed)).toEqual([true, true, false, false]);
  for (const wire of wires.slice(0, 3)) wire.emit("close");
  expect([limiter.taken, admit("other").refusal]).toEqual([
    1,
    { kind: "full", bound: "1 in all", reason: "streams" },
  ]);
  wires.at(-1)?.emit("close");
  expect([limiter.taken, admit("other").refusal]).toEqual([0, undefined]);
});

test("[W33] each bound lets its last one in and refuses the next, and who goes makes room for one", () => {
  const { admit } = occupied(3, 2);
  const first = admit(undefined);
  expect([first.refusal, admit(undefined).refusal]).toEqual([undefined, undefined]);
  expect(admit(undefined).refusal).toMatchObject({ bound: "2 from one address" });
  expect(admit(undefined, "192.0.2.8").refusal).toBeUndefined();
  expect(admit(undefined, "192.0.2.9").refusal).toMatchObject({ bound: "3 in all" });
  first.wire.emit("close");
  expect(admit(undefined).refusal).toBeUndefined();
  expect(admit(undefined, "192.0.2.9").refusal).toMatchObject({ bound: "3 in all" });
});

test("[W33] a connection that was refused for its ticket takes no seat", () => {
  const { limiter, admit } = occupied(2, 2, () => false);
  expect(admit(undefined, undefined, "spent").refusal).toEqual({ kind: "spent" });
  expect(limiter.taken).toBe(0);
  expect(admit(undefined).refusal).toBeUndefined();
});

test("[W32] a name is that of one address or one key only: nobody takes over the connection of another by it", () => {
  const { limiter, ends, admit } = occupied(9, 9);
  const OTHER = { id: "0b0b0b0b", connections: 9 };
  const mine = [
    admit("mine", "192.0.2.7"),
    admit("mine", "192.0.2.8"),
    admit("mine", "192.0.2.7", undefined, { ...KEY, connections: 9 }),
    admit("mine", "192.0.2.7", undefined, OTHER),
  ];
  expect([mine.map(({ refusal }) => refusal), ends, limiter.taken]).toEqual([
    mine.map(() => undefined),
    [],
    4,
  ]);
  // A key is the same client's wherever it comes from.
  expect(admit("mine", "192.0.2.9", undefined, OTHER).refusal).toBeUndefined();
  expect([ends, limiter.taken]).toEqual([["mine superseded"], 4]);
});

test("[W32] the end of a connection that was taken over changes nothing for the one that took it over", () => {
  const { limiter, ends, admit } = occupied(2, 2);
  const [first, second] = [admit("mine"), admit("mine")];
  first.wire.emit("close");
  expect([limiter.taken, ends]).toEqual([1, ["mine superseded"]]);
  // It is still known, and taken over in its turn.
  expect(admit("mine").refusal).toBeUndefined();
  expect([limiter.taken, ends]).toEqual([1, ["mine superseded", "mine superseded"]]);
  second.wire.emit("close");
  expect(limiter.taken).toBe(1);
});
