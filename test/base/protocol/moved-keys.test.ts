import fc from "fast-check";
import { expect, test } from "vitest";
import { movedKeys } from "../../../src/base/protocol/filter-event.ts";

const KEYS = [..."abcdefgh"];

test("[W28] the moved keys are a minimal set without which the order is unchanged", () => {
  fc.assert(
    fc.property(
      fc.shuffledSubarray(KEYS, { minLength: 1 }),
      fc.shuffledSubarray(KEYS, { minLength: 1 }),
      (before, after) => {
        const moved = movedKeys(before, after);
        const both = before.filter((key) => after.includes(key));
        const isInOrder = (keys: readonly string[]) =>
          after.filter((key) => keys.includes(key)).join() === keys.join();
        expect(isInOrder(both.filter((key) => !moved.includes(key)))).toBe(true);
        // Brute force over all common subsets: no larger one keeps its order.
        const most = Math.max(
          ...Array.from({ length: 2 ** both.length }, (_, set) => {
            const some = both.filter((_, at) => set & (1 << at));
            return isInOrder(some) ? some.length : 0;
          }),
        );
        expect(both.length - moved.length).toBe(most);
      },
    ),
  );
});

test("[W28] no key moved in an unchanged list, and one moved in a list whose first item moved to the end", () => {
  expect(movedKeys(KEYS, KEYS)).toEqual([]);
  expect(movedKeys(["a", "b", "c", "d"], ["b", "c", "d", "a"])).toEqual(["a"]);
});
