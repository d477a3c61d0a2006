import { Duplex } from "node:stream";
import fc from "fast-check";
import { expect } from "vitest";
import { FlarewireError } from "../../../../src/base/protocol/index.ts";
import {
  AdmissionQueue,
  type AdmissionQueueLimits,
} from "../../../../src/gateway/http/connections/admission-queue.ts";
import { type Claimant, createHubCounters, TurnBudget } from "../../../../src/gateway/hub/index.ts";
import { ManualClock } from "../../../support/time/manual-clock.ts";
import { test } from "../../../support/time/still-running.ts";
import { settled } from "../../hub/hub-fixture.ts";

/** Creates a connection that the test ends. */
function createSocket(): Duplex {
  return new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() });
}

/** A budget that counts the jobs that are neither done nor taken back. */
class CountingTurns extends TurnBudget {
  held = 0;

  override run(work: () => void, by?: Claimant): () => void {
    let isHeld = true;
    const closeGradually = () => {
      if (isHeld) this.held -= 1;
      isHeld = false;
    };
    this.held += 1;
    const takeBack = super.run(() => {
      closeGradually();
      work();
    }, by);
    return () => {
      closeGradually();
      takeBack();
    };
  }
}

/**
 * Creates a queue over turns that the test runs. An admission takes a millisecond, so two fit into
 * a turn.
 */
function createQueue(limits: Partial<AdmissionQueueLimits> = {}) {
  const clock = new ManualClock();
  const turns: (() => void)[] = [];
  const turn = new CountingTurns(() => clock.monotonic(), { defer: (next) => turns.push(next) });
  const counters = createHubCounters();
  const queue = new AdmissionQueue({ hub: { turn, counters }, clock, limits });
  const admitted: number[] = [];
  const refused = new Map<number, FlarewireError>();
  const sockets: Duplex[] = [];
  const add = (id: number, isUpgraded = false, by: Claimant = { name: "a", isKeyed: false }) => {
    const socket = createSocket();
    sockets[id] = socket;
    const work = async () => {
      admitted.push(id);
      clock.advance(1);
    };
    queue.admit({ by, socket, isUpgraded }, work).catch((error) => refused.set(id, error));
  };
  const takeTurn = async () => {
    turns.shift()?.();
    await settled();
  };
  const takeAll = async () => {
    while (turns.length > 0) await takeTurn();
  };
  return { clock, queue, turn, counters, admitted, refused, sockets, add, takeTurn, takeAll };
}

test("[L5] [W38] a turn admits as many requests of one client as it has time for, in the order of their arrival", async () => {
  const { admitted, counters, add, takeTurn, takeAll } = createQueue();
  for (let id = 0; id < 7; id++) {
    add(id);
    await settled();
  }
  expect(admitted).toEqual([0, 1]);
  expect(counters.admissionsWaiting).toBe(5);
  await takeTurn();
  expect(admitted).toEqual([0, 1, 2, 3]);
  add(7);
  await takeAll();
  expect(admitted).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  expect(counters.admissions).toEqual({ admitted: 8, refused: 0, full: 0, late: 0, gone: 0 });
  expect(counters.admissionsWaiting).toBe(0);
});

test("[W38] beyond the limits of number and time, requests are refused with the limit, and the others are admitted", async () => {
  const { admitted, refused, counters, clock, add, takeAll } = createQueue({
    maxWaiting: 3,
    maxWaitMs: 900,
  });
  for (let id = 0; id < 6; id++) {
    add(id);
    await settled();
  }
  expect(counters.admissionsWaiting).toBe(3);
  expect(refused.get(5)).toMatchObject({ code: "over-capacity", bound: "3 requests wait" });
  clock.advance(600);
  await takeAll();
  add(6);
  add(7);
  add(8);
  await settled();
  clock.advance(2);
  // A server without any time in its turns refuses by the timer.
  clock.advance(1_200);
  await settled();
  expect([...refused.keys()].slice(1).every((id) => refused.get(id)?.bound === "900 ms")).toBe(true);
  expect(counters.admissions.late).toBe(refused.size - 1);
  await takeAll();
  expect(admitted.length + refused.size).toBe(9);
  expect(counters.admissionsWaiting).toBe(0);
});

test("[W38] a request that has waited for the maximum time is refused, by the turn and by the timer, and one that waited a little less is admitted", async () => {
  const { admitted, refused, counters, clock, add, takeAll } = createQueue({ maxWaitMs: 900 });
  for (let id = 0; id < 4; id++) {
    add(id);
    await settled();
  }
  clock.advance(1);
  add(4);
  // At the turn, two requests have waited for 900 ms, and the third for 899.
  clock.advance(899);
  expect(refused.size).toBe(0);
  await takeAll();
  expect([...refused].map(([id, { bound }]) => [id, bound])).toEqual([
    [2, "900 ms"],
    [3, "900 ms"],
  ]);
  expect(admitted).toEqual([0, 1, 4]);
  for (let id = 5; id < 9; id++) {
    add(id);
    await settled();
  }
  // Without a turn, the timer checks every quarter of a second.
  clock.advance(899);
  expect(refused.size).toBe(2);
  clock.advance(250);
  await settled();
  expect([...refused.keys()]).toEqual([2, 3, 7, 8]);
  expect([counters.admissions.late, counters.admissionsWaiting]).toEqual([4, 0]);
});

test("[W38] requests with a key are never refused in favor of one without", async () => {
  const { admitted, refused, add, takeAll } = createQueue({ maxWaiting: 4 });
  for (let id = 0; id < 6; id++) {
    add(id, false, { name: "k", isKeyed: true });
    await settled();
  }
  for (let id = 6; id < 9; id++) {
    add(id, false, { name: "b", isKeyed: false });
    await settled();
  }
  expect([...refused.keys()]).toEqual([6, 7, 8]);
  await takeAll();
  expect(admitted).toEqual([0, 1, 2, 3, 4, 5]);
});

test("[W38] requests of a key that fills the queue are displaced by other keys' until all have the same number", async () => {
  const { admitted, refused, add, takeAll } = createQueue({ maxWaiting: 4 });
  for (let id = 0; id < 6; id++) {
    add(id, false, { name: "k", isKeyed: true });
    await settled();
  }
  for (const id of [6, 7, 8]) {
    add(id, false, { name: "l", isKeyed: true });
    await settled();
  }
  expect([...refused.keys()]).toEqual([5, 4, 8]);
  await takeAll();
  expect(admitted).toEqual([0, 1, 2, 6, 3, 7]);
});

test("[W38] a client's first request is admitted before another client's second, and a key's before all", async () => {
  const { admitted, add, takeAll } = createQueue();
  for (let id = 0; id < 60; id++) {
    add(id);
    await settled();
  }
  add(60, false, { name: "b", isKeyed: false });
  add(61, false, { name: "c", isKeyed: false });
  add(62, false, { name: "k", isKeyed: true });
  await takeAll();
  expect(admitted.slice(0, 7)).toEqual([0, 1, 62, 2, 60, 61, 3]);
  expect(admitted).toHaveLength(63);
});

test("[W38] a full queue refuses the latest request of the client that fills it, not a new one of another client", async () => {
  const { admitted, refused, counters, add, takeAll } = createQueue({ maxWaiting: 4 });
  for (let id = 0; id < 7; id++) {
    add(id);
    await settled();
  }
  expect([...refused.keys()]).toEqual([6]);
  add(7, false, { name: "b", isKeyed: false });
  await settled();
  expect([...refused.keys()]).toEqual([6, 5]);
  expect(refused.get(5)).toMatchObject({ code: "over-capacity", bound: "4 requests wait" });
  for (const [id, name] of ["c", "d", "e"].entries()) add(8 + id, false, { name, isKeyed: false });
  await settled();
  // If each client has one request, a new request displaces none, unless it has a key.
  expect(new Set(refused.keys())).toEqual(new Set([3, 4, 5, 6, 10]));
  add(11, false, { name: "k", isKeyed: true });
  await settled();
  expect(refused.has(11)).toBe(false);
  expect(refused.size).toBe(6);
  await takeAll();
  expect(admitted.length + refused.size).toBe(12);
  expect(counters.admissions).toMatchObject({ admitted: 6, full: 6 });
});

test("a request that fails in its turn is not counted as admitted", async () => {
  const { counters, queue } = createQueue();
  const comer = { by: { name: "a", isKeyed: false }, socket: createSocket(), isUpgraded: false };
  const full = async () => {
    throw new FlarewireError("over-capacity", "no room");
  };
  await expect(queue.admit(comer, full)).rejects.toThrow("no room");
  expect(counters.admissions).toMatchObject({ admitted: 0, refused: 1 });
});

test("any number of requests that end while they wait leave no work for later turns", async () => {
  const { admitted, sockets, turn, counters, add, takeTurn, takeAll } = createQueue({ maxWaiting: 5 });
  for (let id = 0; id < 200; id++) {
    add(id);
    await settled();
    if (id > 4) sockets[id]?.destroy();
    await settled();
  }
  expect(counters.admissions).toMatchObject({ admitted: 2, gone: 195 });
  expect(turn.held).toBe(3);
  // Two turns for the three waiting requests and the one that left, and an empty turn.
  await takeTurn();
  await takeTurn();
  expect(admitted).toEqual([0, 1, 2, 3, 4]);
  await takeAll();
  expect(counters.admissionsWaiting).toBe(0);
});

test.for([
  ["was closed", (socket: Duplex) => socket.destroy()],
  ["was ended by the other side, perhaps after more bytes", (socket: Duplex) => socket.push(null)],
] as const)("one whose connection %s while it waited takes nobody's turn", async ([, end]) => {
  const { admitted, refused, sockets, counters, add, takeAll } = createQueue();
  for (let id = 0; id < 5; id++) {
    add(id, true);
    await settled();
  }
  const [socket] = sockets.slice(3);
  if (socket) end(socket);
  await settled();
  expect([...refused.keys()]).toEqual([3]);
  expect(counters.admissions.gone).toBe(1);
  await takeAll();
  expect(admitted).toEqual([0, 1, 2, 4]);
});

test("bytes that arrive early on an upgraded connection remain for its reader", async () => {
  const { admitted, sockets, add, takeAll } = createQueue();
  for (let id = 0; id < 3; id++) {
    add(id, true);
    await settled();
  }
  const [early] = sockets.slice(2);
  early?.push("early");
  await settled();
  await takeAll();
  expect(admitted).toEqual([0, 1, 2]);
  const read = new Promise((resolve) => early?.once("data", resolve));
  expect(String(await read)).toBe("early");
  expect(early?.listenerCount("close")).toBe(0);
  expect(early?.listenerCount("readable")).toBe(0);
});

test("[L5] in any order of arrivals and departures, each request gets one result, the queue stays within its limits, and turns are fair", async () => {
  const steps = fc.array(
    fc.oneof(
      fc.constant({ kind: "add" as const }),
      fc.record({ kind: fc.constant("leave" as const), which: fc.nat(60) }),
      fc.constant({ kind: "turn" as const }),
      fc.record({ kind: fc.constant("pass" as const), ms: fc.nat(400) }),
    ),
    { maxLength: 60 },
  );
  await fc.assert(
    fc.asyncProperty(steps, fc.integer({ min: 1, max: 5 }), async (all, maxWaiting) => {
      const sut = createQueue({ maxWaiting, maxWaitMs: 500 });
      const { admitted, refused, sockets, counters, clock, add, takeTurn, takeAll } = sut;
      for (const step of all) {
        if (step.kind === "add") add(sockets.length);
        else if (step.kind === "leave") sockets[step.which % Math.max(1, sockets.length)]?.destroy();
        else if (step.kind === "turn") await takeTurn();
        else clock.advance(step.ms);
        await settled();
        expect(counters.admissionsWaiting).toBeLessThanOrEqual(maxWaiting);
      }
      await takeAll();
      expect(admitted).toEqual(admitted.toSorted((a, b) => a - b));
      const reported = [...admitted, ...refused.keys()].toSorted((a, b) => a - b);
      expect(reported).toEqual([...sockets.keys()]);
      const counted = Object.values(counters.admissions).reduce((sum, count) => sum + count, 0);
      expect([counters.admissionsWaiting, counted]).toEqual([0, sockets.length]);
    }),
    { numRuns: 60 },
  );
});
