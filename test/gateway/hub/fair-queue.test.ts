import fc from "fast-check";
import { expect, test } from "vitest";
import { type Claimant, FairQueue } from "../../../src/gateway/hub/fair-queue.ts";

const NAMES: readonly Claimant[] = [
  ...["a", "b", "c"].map((name) => ({ name, isKeyed: false })),
  ...["k", "l"].map((name) => ({ name, isKeyed: true })),
];

test("[L5] claimants take turns, and of four in a row at most three have a key while others wait", () => {
  const queue = new FairQueue<string>();
  for (const by of NAMES) for (let at = 1; at <= 4; at++) queue.push(`${by.name}${at}`, by);
  const left: (string | undefined)[] = [];
  while (queue.size > 0) left.push(queue.shift());
  expect(left.join(" ")).toBe("k1 l1 k2 a1 l2 k3 l3 b1 k4 l4 c1 a2 b2 c2 a3 b3 c3 a4 b4 c4");
  expect(queue.shift()).toBeUndefined();
});

test("[L5] whatever is pushed and deleted, each remaining item leaves once, and those of one claimant in order", () => {
  const steps = fc.array(
    fc.oneof(
      fc.record({ kind: fc.constant("push" as const), by: fc.constantFrom(...NAMES) }),
      fc.constant({ kind: "shift" as const }),
      fc.record({ kind: fc.constant("delete" as const), which: fc.nat(50) }),
    ),
    { maxLength: 80 },
  );
  fc.assert(
    fc.property(steps, (all) => {
      const queue = new FairQueue<number>();
      const owners: Claimant[] = [];
      const held = new Set<number>();
      const left: number[] = [];
      const shift = () => {
        const item = queue.shift();
        if (item === undefined) return;
        expect(held.delete(item)).toBe(true);
        left.push(item);
      };
      for (const step of all) {
        if (step.kind === "push") {
          queue.push(owners.length, step.by);
          held.add(owners.length);
          owners.push(step.by);
        } else if (step.kind === "shift") shift();
        else {
          const item = step.which % Math.max(1, owners.length);
          const by = owners[item];
          if (by) queue.delete(item, by);
          held.delete(item);
        }
        expect(queue.size).toBe(held.size);
      }
      while (queue.size > 0) shift();
      expect(held.size).toBe(0);
      for (const by of NAMES) {
        const own = left.filter((item) => owners[item] === by);
        expect(own).toEqual(own.toSorted((a, b) => a - b));
      }
    }),
  );
});
