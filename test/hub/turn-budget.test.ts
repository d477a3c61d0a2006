import { expect, test } from "vitest";
import { TurnBudget } from "../../src/hub/turn-budget.ts";

test("[L5] what does not fit into one turn's time waits for the next ones, in order, and nothing is left out", () => {
  let nowMs = 0;
  const turns: (() => void)[] = [];
  const budget = new TurnBudget(
    () => nowMs,
    (next) => turns.push(next),
  );
  const done: number[][] = [];
  let thisTurn: number[] = [];
  const work = (id: number) => () => {
    nowMs += 0.5;
    thisTurn.push(id);
  };
  for (let id = 0; id < 10; id++) budget.run(work(id));
  done.push(thisTurn);
  while (turns.length > 0) {
    thisTurn = [];
    turns.shift()?.();
    // Whoever asks in between comes behind those who wait.
    if (done.length === 1) budget.run(work(10));
    done.push(thisTurn);
  }
  expect(done).toEqual([[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10], []]);
  expect(done.flat()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
});

test("each turn has its time anew, also when nobody waits", () => {
  let nowMs = 0;
  const turns: (() => void)[] = [];
  const budget = new TurnBudget(
    () => nowMs,
    (next) => turns.push(next),
  );
  let done = 0;
  const long = () => {
    nowMs += 5;
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
