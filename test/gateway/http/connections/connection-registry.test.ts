import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { ConnectionLimiter, ConnectionRegistry, type Refusal } from "../../../../src/gateway/http/index.ts";

/** Stands in for a connection. */
class FakeWire extends EventEmitter<{ close: [] }> {
  isDestroyed = false;

  destroy(): void {
    this.isDestroyed = true;
  }
}

const KEY = { id: "0a0a0a0a", connections: 1 };

/** Creates a registry in which the client `mine` is connected. */
function occupied(
  max: number,
  ofAddress: number,
  spend: (ticket: string) => boolean | Promise<boolean> = () => true,
) {
  const limiter = new ConnectionLimiter(max, ofAddress);
  const registry = new ConnectionRegistry(limiter, spend);
  const ends: string[] = [];
  const attach = (wire: FakeWire, name: string | undefined) =>
    registry.slotOf(wire)?.attach({ close: (reason) => ends.push(`${name} ${reason}`) });
  const admit = (name: string | undefined, address = "192.0.2.7", ticket?: string, key?: typeof KEY) => {
    const wire = new FakeWire();
    const refusal = registry.admit(wire, address, name, { plan: undefined, key, ticket }) as
      | Refusal
      | undefined;
    attach(wire, name);
    return { wire, refusal };
  };
  /** Admits a connection whose ticket another process redeems. */
  const admitLater = (name: string | undefined, key?: typeof KEY) => {
    const wire = new FakeWire();
    const access = { plan: undefined, key, ticket: "ticket" };
    const refusal = Promise.resolve(registry.admit(wire, "192.0.2.7", name, access));
    return { wire, refusal, begin: () => attach(wire, name) };
  };
  return { limiter, registry, ends, admit, admitLater };
}

test("[W32] a refused take-over leaves the connected client its slot, even if it is tried repeatedly", () => {
  const { limiter, ends, admit } = occupied(3, 3, () => false);
  const { wire } = admit("mine", undefined, undefined, KEY);
  for (let attempt = 0; attempt < 3; attempt += 1)
    expect(admit("mine", undefined, "spent", KEY).refusal).toEqual("spent");
  expect([limiter.taken, ends, wire.isDestroyed]).toEqual([1, [], false]);
  // It still counts toward its key's limit, and still ends with its key.
  expect(admit("other", undefined, undefined, KEY).refusal).toMatchObject({ reason: "streams-of-key" });
  limiter.endAll(KEY.id, "unauthorized");
  expect(ends).toEqual(["mine unauthorized"]);
  wire.emit("close");
  expect(limiter.taken).toBe(0);
});

test("[W32] [W33] a client that takes over repeatedly holds one slot, and none after its last connection ends", () => {
  const { limiter, ends, admit } = occupied(1, 1);
  const wires = Array.from({ length: 4 }, () => {
    const { wire, refusal } = admit("mine");
    expect(refusal).toBeUndefined();
    expect(limiter.taken).toBe(1);
    return wire;
  });
  expect(ends).toEqual(["mine superseded", "mine superseded", "mine superseded"]);
  // At most one superseded connection is still closing.
  expect(wires.map(({ isDestroyed }) => isDestroyed)).toEqual([true, true, false, false]);
  for (const wire of wires.slice(0, 3)) wire.emit("close");
  expect([limiter.taken, admit("other").refusal]).toEqual([1, { bound: "1 in all", reason: "streams" }]);
  wires.at(-1)?.emit("close");
  expect([limiter.taken, admit("other").refusal]).toEqual([0, undefined]);
});

test("[W33] each limit admits its last connection and refuses the next, and an ended connection frees its slot", () => {
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

test("[W33] a connection that is refused for its ticket takes no slot", () => {
  const { limiter, admit } = occupied(2, 2, () => false);
  expect(admit(undefined, undefined, "spent").refusal).toEqual("spent");
  expect(limiter.taken).toBe(0);
  expect(admit(undefined).refusal).toBeUndefined();
});

test("[W32] a client id counts within one address or one key, and takes over no other's connection", () => {
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
  // A key's client is the same from any address.
  expect(admit("mine", "192.0.2.9", undefined, OTHER).refusal).toBeUndefined();
  expect([ends, limiter.taken]).toEqual([["mine superseded"], 4]);
});

test("[W32] the end of a superseded connection does not change the connection that replaced it", () => {
  const { limiter, ends, admit } = occupied(2, 2);
  const [first, second] = [admit("mine"), admit("mine")];
  first.wire.emit("close");
  expect([limiter.taken, ends]).toEqual([1, ["mine superseded"]]);
  // It is still registered, so the next connection supersedes it.
  expect(admit("mine").refusal).toBeUndefined();
  expect([limiter.taken, ends]).toEqual([1, ["mine superseded", "mine superseded"]]);
  second.wire.emit("close");
  expect(limiter.taken).toBe(1);
});

test("[W32] [K4] while another process redeems a ticket, the client's connection stays open, and it is replaced only if the ticket is valid", async () => {
  const answers: ((isValid: boolean) => void)[] = [];
  const { limiter, ends, admit, admitLater } = occupied(1, 1, () => new Promise((all) => answers.push(all)));
  admit("mine");
  const refused = admitLater("mine");
  expect(ends).toEqual([]);
  answers[0]?.(false);
  expect(await refused.refusal).toEqual("spent");
  expect([limiter.taken, ends]).toEqual([1, []]);
  const admitted = admitLater("mine");
  answers[1]?.(true);
  expect(await admitted.refusal).toBeUndefined();
  expect([limiter.taken, ends]).toEqual([1, ["mine superseded"]]);
  admitted.wire.emit("close");
  expect(limiter.taken).toBe(0);
});

test("[W32] [W33] if a client's two tickets are redeemed at once, the last connection remains, with one slot", async () => {
  const answers: ((isValid: boolean) => void)[] = [];
  const { limiter, registry, ends, admitLater } = occupied(
    2,
    2,
    () => new Promise((all) => answers.push(all)),
  );
  const both = [admitLater("mine"), admitLater("mine")];
  answers[1]?.(true);
  answers[0]?.(true);
  expect(await Promise.all(both.map(({ refusal }) => refusal))).toEqual([undefined, undefined]);
  both[0]?.begin();
  expect([ends, limiter.taken]).toEqual([[], 1]);
  both[1]?.begin();
  expect([ends, limiter.taken]).toEqual([["mine superseded"], 1]);
  registry.supersede("address 192.0.2.7 mine");
  registry.supersede("address 192.0.2.7 mine");
  expect([ends, limiter.taken]).toEqual([["mine superseded", "mine superseded"], 0]);
  for (const { wire } of both) wire.emit("close");
  expect(limiter.taken).toBe(0);
});

test("[W33] [K7] a connection that closes, or whose key is revoked, while its ticket is redeemed holds no slot", async () => {
  const answers: ((isValid: boolean) => void)[] = [];
  const { limiter, ends, admit, admitLater } = occupied(2, 2, () => new Promise((all) => answers.push(all)));
  const closed = admitLater("mine");
  closed.wire.emit("close");
  expect(limiter.taken).toBe(0);
  const ended = admitLater(undefined, KEY);
  limiter.endAll(KEY.id, "unauthorized");
  for (const answer of answers) answer(true);
  expect(await Promise.all([closed.refusal, ended.refusal])).toEqual([undefined, undefined]);
  ended.begin();
  expect(ends).toEqual(["undefined unauthorized"]);
  ended.wire.emit("close");
  expect(limiter.taken).toBe(0);
  // A closed connection supersedes none.
  admit("mine");
  expect(limiter.taken).toBe(1);
});

test("[W32] [K7] a client whose key is revoked while its next ticket is redeemed loses both connections", async () => {
  const answers: ((isValid: boolean) => void)[] = [];
  const { limiter, ends, admit, admitLater } = occupied(1, 1, () => new Promise((all) => answers.push(all)));
  const before = admit("mine", undefined, undefined, KEY);
  const next = admitLater("mine", KEY);
  limiter.endAll(KEY.id, "unauthorized");
  for (const { wire } of [before, next]) wire.emit("close");
  answers[0]?.(true);
  expect(await next.refusal).toBeUndefined();
  next.begin();
  expect(ends).toEqual(["mine unauthorized", "mine unauthorized"]);
  expect(limiter.taken).toBe(0);
  // Neither of them counts toward the limits.
  expect(admit("other").refusal).toBeUndefined();
});

test("[W32] [W33] a client whose next connection closes while its ticket is redeemed keeps its slot", async () => {
  const answers: ((isValid: boolean) => void)[] = [];
  const { limiter, ends, admit, admitLater } = occupied(1, 1, () => new Promise((all) => answers.push(all)));
  const { wire } = admit("mine");
  const gone = admitLater("mine");
  gone.wire.emit("close");
  expect(admit(undefined).refusal).toMatchObject({ bound: "1 in all" });
  answers[0]?.(true);
  await gone.refusal;
  expect([limiter.taken, ends]).toEqual([1, []]);
  wire.emit("close");
  expect(limiter.taken).toBe(0);
});
