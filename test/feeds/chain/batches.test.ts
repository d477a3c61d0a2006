import { expect, test } from "vitest";
import { inBatches } from "../../../src/feeds/chain/batches.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";
import { until } from "../exchange/scripted-venue.ts";

const MAX = 3;

/** A source that yields numbers when the test adds them. */
class Numbers {
  readonly clock = new ManualClock();
  /** Number of items read from the source. */
  taken = 0;
  isOver = false;
  readonly #ready: number[] = [];
  #wake: () => void = () => {};

  put(...numbers: number[]): void {
    this.#ready.push(...numbers);
    this.#wake();
  }

  end(): void {
    this.isOver = true;
    this.#wake();
  }

  batches(mayGrow = (_batch: readonly number[]) => false) {
    return inBatches(this.#source(), {
      isFull: (batch) => batch.length >= MAX,
      mayGrow,
      gapMs: 100,
      clock: this.clock,
      signal: new AbortController().signal,
    });
  }

  async *#source(): AsyncGenerator<number> {
    for (;;) {
      const next = this.#ready.shift();
      if (next !== undefined) {
        this.taken += 1;
        yield next;
      } else if (this.isOver) throw new Error("the source failed");
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }
}

test("items that arrive while the consumer works form the next batch, up to its maximum size", async () => {
  const numbers = new Numbers();
  const batches = numbers.batches();
  numbers.put(1);
  expect((await batches.next()).value).toEqual([1]);
  numbers.put(2, 3, 4, 5, 6);
  await until("three more are read", () => numbers.taken === 4);
  expect((await batches.next()).value).toEqual([2, 3, 4]);
  await until("the others are read", () => numbers.taken === 6);
  expect((await batches.next()).value).toEqual([5, 6]);
});

test("a batch that may grow is yielded after a gap without new items", async () => {
  const numbers = new Numbers();
  const batches = numbers.batches((batch) => batch.at(-1) !== 9);
  numbers.put(1);
  const first = batches.next();
  await until("the batch waits", () => numbers.clock.slept.length === 1);
  numbers.put(2);
  await until("the batch waits again", () => numbers.clock.slept.length === 2);
  numbers.clock.advance(100);
  expect((await first).value).toEqual([1, 2]);
  numbers.put(9);
  expect((await batches.next()).value).toEqual([9]);
  expect(numbers.clock.slept).toHaveLength(2);
});

test("a source's failure follows the items that it yielded before", async () => {
  const numbers = new Numbers();
  const batches = numbers.batches();
  numbers.put(1, 2);
  numbers.end();
  expect((await batches.next()).value).toEqual([1]);
  expect((await batches.next()).value).toEqual([2]);
  await expect(batches.next()).rejects.toThrow("the source failed");
});
