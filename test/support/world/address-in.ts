import { GROUP_FACTS, type GroupName } from "../../../src/base/model/index.ts";

const LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/**
 * Returns an address in the form of the group. `number`: below 2,000. A base58 address has letters
 * of both cases, which count.
 */
export function addressIn(group: GroupName, number: number): string {
  if (GROUP_FACTS[group].names !== "exact") return `0x${number}`.padEnd(42, "a");
  const [high, low] = [Math.floor(number / LETTERS.length), number % LETTERS.length];
  return `7GCihgDB8fe6KNjn2MYtkzZcRjQy3t9GHdC8uHYm${LETTERS[high]}${LETTERS[low]}`;
}
