import { expect, test } from "vitest";
import { ABSENT_MS, Absences } from "../../../src/feeds/upstream/upstream-absence.ts";

/** Plays responses with some of the items a, b and c, one per second by default. */
class Watched {
  readonly absences = new Absences();
  nowMs = 0;
  #before: readonly string[] = ["a", "b", "c"];

  /** Plays a response with these items after `stepMs`. The absence of `explained` is expected. */
  answer(listed: string, { stepMs = 1_000, explained = "", isNew = true } = {}): readonly string[] {
    this.nowMs += stepMs;
    return this.absences.note({
      before: this.#before,
      listed: new Set(listed),
      nowMs: this.nowMs,
      isNew,
      isExplained: (key) => explained.includes(key),
    });
  }

  /** Confirms and returns the items that have been absent for long enough. */
  expire(minMs = ABSENT_MS): string {
    const gone = this.absences.expire(this.nowMs, minMs);
    this.#before = this.#before.filter((key) => !gone.has(key));
    return [...gone].join("");
  }

  /** Confirms that this item is gone. */
  confirm(key: string): void {
    this.#before = this.#before.filter((other) => other !== key);
  }

  get patienceMs(): number {
    return this.absences.patienceMs(this.nowMs);
  }

  get isPatient(): boolean {
    return this.absences.isPatient(this.nowMs);
  }
}

test("an item is removed after three responses without it and the minimum time, to the millisecond, not by either alone", () => {
  const slow = new Watched();
  slow.answer("bc");
  expect([slow.answer("bc", { stepMs: 60_000 }), slow.expire()]).toEqual([["a"], ""]);
  expect([slow.answer("bc", { stepMs: 60_000, isNew: false }), slow.expire()]).toEqual([["a"], ""]);
  slow.answer("bc");
  expect(slow.expire()).toBe("a");
  const quick = new Watched();
  for (const stepMs of [1_000, 1, 1, 2_497]) {
    quick.answer("ac", { stepMs });
    expect(quick.expire()).toBe("");
  }
  quick.answer("ac", { stepMs: 1 });
  expect(quick.expire()).toBe("b");
});

test("an item that returns is counted from its next absence on, and each item is counted separately", () => {
  const watched = new Watched();
  // Two responses lack a, then b, then a again.
  for (const listed of ["bc", "bc", "ac", "ac", "bc", "bc"]) {
    watched.answer(listed, { stepMs: 500 });
    expect(watched.expire()).toBe("");
  }
});

test("after items returned, later absences must last twice as long as the longest, until ten minutes pass without a return", () => {
  const watched = new Watched();
  expect(watched.patienceMs).toBe(0);
  for (let answer = 0; answer < 4; answer += 1) watched.answer("bc");
  expect(watched.expire()).toBe("a");
  watched.answer("abc", { stepMs: 7_000 });
  const returnedAtMs = watched.nowMs;
  expect(watched.patienceMs).toBe(20_000);
  for (let answer = 0; answer < 20; answer += 1) watched.answer("ac");
  expect([watched.expire(), watched.isPatient]).toEqual(["", true]);
  watched.answer("ac");
  expect(watched.expire()).toBe("b");
  expect(watched.absences.patienceMs(returnedAtMs + 600_000)).toBe(20_000);
  expect(watched.absences.patienceMs(returnedAtMs + 600_001)).toBe(0);
  expect(watched.absences.patienceMs(returnedAtMs)).toBe(0);
});

test("an absence is remembered for four times its length, and the wait is at most an hour", () => {
  const watched = new Watched();
  for (let answer = 0; answer < 3; answer += 1) watched.answer("bc", { stepMs: 10_000 });
  expect(watched.expire()).toBe("a");
  watched.answer("abc", { stepMs: 7_200_000 - 20_000 });
  expect(watched.patienceMs).toBe(3_600_000);
  expect(watched.absences.patienceMs(watched.nowMs + 4 * 7_200_000)).toBe(3_600_000);
  expect(watched.absences.patienceMs(watched.nowMs + 4 * 7_200_000 + 1)).toBe(0);
});

test("an explained absence ends at once, without a further wait", () => {
  const watched = new Watched();
  for (let answer = 0; answer < 4; answer += 1) watched.answer("bc");
  watched.expire();
  watched.answer("abc", { stepMs: 10_000 });
  for (let answer = 0; answer < 6; answer += 1) watched.answer("ac");
  expect([watched.expire(), watched.isPatient]).toEqual(["", true]);
  expect(watched.answer("ac", { explained: "b" })).toEqual([]);
  expect(watched.isPatient).toBe(false);
  watched.confirm("b");
  watched.answer("ac", { stepMs: 60_000 });
  expect([watched.expire(), watched.isPatient]).toEqual(["", false]);
});
