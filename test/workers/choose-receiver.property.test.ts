import fc from "fast-check";
import { expect, test } from "vitest";
import { chooseReceiver, MAX_LEAD } from "../../src/workers/primary/choose-receiver.ts";
import { lawRuns } from "../support/law-runs.ts";

/** A worker as the primary sees it. It takes one connection at a time, at its own pace. */
class WorkerUnderTest {
  isReady = true;
  isStuck = false;
  isLeaving = false;
  isHanded = false;
  connections: number;

  constructor(connections: number) {
    this.connections = connections;
  }

  get canTake(): boolean {
    return !this.isHanded;
  }

  hand(): void {
    this.isHanded = true;
    this.connections += 1;
  }
}

/** Hands over as many waiting connections as possible. Returns the number that still wait. */
function pump(workers: readonly WorkerUnderTest[], waiting: number): number {
  for (let left = waiting; left > 0; left -= 1) {
    const chosen = chooseReceiver(workers, left, false);
    if (!chosen) return left;
    chosen.hand();
  }
  return 0;
}

const spreadOf = (workers: readonly WorkerUnderTest[]) => {
  const counts = workers.map(({ connections }) => connections);
  return { fewest: Math.min(...counts), most: Math.max(...counts) };
};

test("in a burst, no worker gets ahead of another by more than a sixteenth and one connection, however fast each takes them", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 2, max: 8 }),
      fc.integer({ min: 1, max: 2_000 }),
      // Determines which worker takes next. Small numbers are frequent, so that some are much
      // faster.
      fc.infiniteStream(fc.nat(20).map((at) => Math.floor(at ** 2 / 60))),
      (count, burst, takes) => {
        const workers = Array.from({ length: count }, () => new WorkerUnderTest(0));
        let waiting = pump(workers, burst);
        while (waiting > 0) {
          const busy = workers.filter(({ isHanded }) => isHanded);
          const taker = busy[(takes.next().value ?? 0) % busy.length];
          if (taker) taker.isHanded = false;
          waiting = pump(workers, waiting);
          const { fewest, most } = spreadOf(workers);
          expect(most).toBeLessThanOrEqual(Math.floor(fewest * (1 + MAX_LEAD)) + 1);
        }
        expect(workers.reduce((sum, { connections }) => sum + connections, 0)).toBe(burst);
      },
    ),
    lawRuns(25, 100),
  );
});

test("a replaced worker gets all new connections until it has as many as the others", () => {
  const workers = [new WorkerUnderTest(0), new WorkerUnderTest(40), new WorkerUnderTest(50)];
  for (let handed = 0; handed < 50; handed += 1) {
    // The turn, here `handed`, only decides between workers with equal counts.
    const chosen = chooseReceiver(workers, handed, false);
    chosen?.hand();
    for (const worker of workers) worker.isHanded = false;
  }
  expect(workers.map(({ connections }) => connections)).toEqual([45, 45, 50]);
});

test("a worker that is stopping gets no connection while another can take one", () => {
  const [leaving, other] = [new WorkerUnderTest(0), new WorkerUnderTest(10)];
  leaving.isLeaving = true;
  expect(chooseReceiver([leaving, other], 0, false)).toBe(other);
  other.isHanded = true;
  expect(chooseReceiver([leaving, other], 0, true)).toBeUndefined();
  other.isReady = false;
  expect(chooseReceiver([leaving, other], 0, false)).toBe(leaving);
});

test("no connection waits for a worker that is stuck or not ready, nor for any worker if it is urgent", () => {
  const [slow, other] = [new WorkerUnderTest(1), new WorkerUnderTest(10)];
  slow.isHanded = true;
  expect(chooseReceiver([slow, other], 0, false)).toBeUndefined();
  expect(chooseReceiver([slow, other], 0, true)).toBe(other);
  slow.isStuck = true;
  expect(chooseReceiver([slow, other], 0, false)).toBe(other);
  slow.isStuck = false;
  slow.isReady = false;
  expect(chooseReceiver([slow, other], 0, false)).toBe(other);
  other.isHanded = true;
  expect(chooseReceiver([slow, other], 0, true)).toBeUndefined();
});

test("workers with equally few connections take turns", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 8 }), fc.nat(1_000), (count, turn) => {
      const equal = Array.from({ length: count }, () => new WorkerUnderTest(7));
      const workers = [new WorkerUnderTest(8), ...equal, new WorkerUnderTest(8)];
      const chosen = equal.map((_, at) => chooseReceiver(workers, turn + at, false));
      expect(new Set(chosen)).toEqual(new Set(equal));
    }),
    lawRuns(25, 100),
  );
});
