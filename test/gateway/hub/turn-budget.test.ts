import fc from "fast-check";
import { expect, test } from "vitest";
import { type Scheduling, TurnBudget } from "../../../src/gateway/hub/turn-budget.ts";
import { settled } from "./hub-fixture.ts";

/** More than any of these tests needs. */
const MAX_TURNS = 10_000;

/** Creates a budget whose time and turns the test controls. */
function createBudget(steps: Scheduling = { afterMicrotasks: (next) => next() }) {
  const turns: (() => void)[] = [];
  const time = { nowMs: 0 };
  let deferred = 0;
  const defer = (next: () => void) => {
    deferred += 1;
    if (deferred > MAX_TURNS) throw new Error("the budget schedules turns without end");
    turns.push(next);
  };
  const budget = new TurnBudget(() => time.nowMs, { ...steps, defer });
  return { budget, time, turns };
}

test("[L5] work that does not fit into one turn runs in later turns, in order, and none is lost", () => {
  const { budget, time, turns } = createBudget();
  const done: number[][] = [];
  let thisTurn: number[] = [];
  const work = (id: number) => () => {
    time.nowMs += 0.5;
    thisTurn.push(id);
  };
  for (let id = 0; id < 10; id++) budget.run(work(id));
  done.push(thisTurn);
  while (turns.length > 0) {
    thisTurn = [];
    turns.shift()?.();
    // Work that arrives in between runs after the waiting work.
    if (done.length === 1) budget.run(work(10));
    done.push(thisTurn);
  }
  expect(done).toEqual([[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10], []]);
});

test("each turn starts with a full budget, even when nothing waits", () => {
  const { budget, time, turns } = createBudget();
  let done = 0;
  const long = () => {
    time.nowMs += 5;
    done += 1;
  };
  budget.run(long);
  expect(done).toBe(1);
  budget.run(long);
  expect(done).toBe(1);
  turns.shift()?.();
  expect(done).toBe(2);
  turns.shift()?.();
  budget.run(long);
  expect(done).toBe(3);
});

test("[L5] the time of a task's continuations counts toward the turn's budget, even after 20 promises", async () => {
  const { budget, time, turns } = createBudget({});
  const done: number[] = [];
  const follow = async (id: number) => {
    for (let hop = 0; hop < 20; hop++) await Promise.resolve();
    time.nowMs += 1;
    done.push(id);
  };
  budget.run(() => {
    time.nowMs += 2;
  });
  for (let id = 0; id < 5; id++) budget.run(() => void follow(id));
  const perTurn: number[] = [];
  while (turns.length > 0) {
    turns.shift()?.();
    await settled();
    perTurn.push(done.length);
  }
  expect(perTurn).toEqual([2, 4, 5, 5]);
  expect(done).toEqual([0, 1, 2, 3, 4]);
});

test("[L5] all work runs once and in order, and a turn exceeds its budget only by its last piece of work", () => {
  const works = fc.array(
    fc.record({ costMs: fc.double({ min: 0, max: 6, noNaN: true }), inTurn: fc.nat(8) }),
    {
      maxLength: 60,
    },
  );
  fc.assert(
    fc.property(works, (all) => {
      const { budget, time, turns } = createBudget();
      const [asked, done]: number[][] = [[], []];
      const come = (turn: number) => {
        for (const [id, { costMs, inTurn }] of all.entries()) {
          if (inTurn !== turn) continue;
          asked?.push(id);
          budget.run(() => {
            time.nowMs += costMs;
            done?.push(id);
          });
        }
      };
      for (let turn = 0; turn <= 8 || turns.length > 0; turn++) {
        const [beganMs, before] = [time.nowMs, done?.length ?? 0];
        turns.shift()?.();
        const last = all[done?.at(-1) ?? -1]?.costMs ?? 0;
        if ((done?.length ?? 0) > before) expect(time.nowMs - beganMs - last).toBeLessThan(2);
        come(turn);
      }
      expect(done).toEqual(asked);
      expect(done?.length).toBe(all.length);
    }),
  );
});

test("[L5] after a batch, new connections get as much time as the batch took, at most 50 ms, while they keep arriving", async () => {
  const { budget, time, turns } = createBudget();
  /**
   * Returns the pause after a batch of `blockedMs`. Each turn takes one millisecond; `arrives` says
   * whether a connection arrives in it.
   */
  const yieldTimeOf = async (blockedMs: number, arrives: (turn: number) => boolean) => {
    time.nowMs += blockedMs;
    const endedMs = time.nowMs;
    let isOver = false;
    const over = budget.yieldAfter(blockedMs)?.then(() => {
      isOver = true;
    });
    for (let turn = 0; over && !isOver; turn++) {
      time.nowMs += 1;
      if (arrives(turn)) budget.noteArrival();
      turns.shift()?.();
      await settled();
    }
    return over ? time.nowMs - endedMs : undefined;
  };
  expect(await yieldTimeOf(20, () => true)).toBeUndefined();
  budget.noteArrival();
  expect(await yieldTimeOf(20, () => true)).toBe(20);
  budget.noteArrival();
  expect(await yieldTimeOf(400, () => true)).toBe(50);
  budget.noteArrival();
  expect(await yieldTimeOf(20, (turn) => turn < 5)).toBe(7);
  budget.noteArrival();
  expect(await yieldTimeOf(20, () => false)).toBe(2);
  expect(await yieldTimeOf(20, () => true)).toBeUndefined();
  budget.noteArrival();
  expect(await yieldTimeOf(0, () => true)).toBeUndefined();
});

test("[L5] while a task's continuations run, new work does not overtake waiting work, even if the turn has time left", () => {
  const settles: (() => void)[] = [];
  const { budget, time, turns } = createBudget({ afterMicrotasks: (next) => settles.push(next) });
  const done: string[] = [];
  budget.run(() => {
    time.nowMs += 2;
  });
  for (const name of ["a", "b"]) budget.run(() => done.push(name));
  turns.shift()?.();
  expect(done).toEqual(["a"]);
  budget.run(() => done.push("c"));
  while (settles.length > 0) settles.shift()?.();
  expect(done).toEqual(["a", "b", "c"]);
});

test("[L5] the server's own work and the clients' requests alternate while both have work", () => {
  const { budget, time, turns } = createBudget();
  const done: string[] = [];
  const work = (name: string) => () => {
    time.nowMs += 2;
    done.push(name);
  };
  budget.run(work("first"));
  for (const at of [1, 2, 3]) budget.run(work(`asked ${at}`), { name: "client", isKeyed: false });
  for (const at of [1, 2]) budget.run(work(`own ${at}`));
  while (turns.length > 0) turns.shift()?.();
  expect(done).toEqual(["first", "own 1", "asked 1", "own 2", "asked 2", "asked 3"]);
});
