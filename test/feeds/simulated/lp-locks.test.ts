import { expect, test } from "vitest";
import type { LocksEvent } from "../../../src/base/market/index.ts";
import { simulate } from "./run.ts";

const lastOf = (locks: readonly LocksEvent[], atMs: number) => locks.findLast(({ at }) => at <= atMs);
const shareOf = (locks: LocksEvent | undefined) =>
  (locks?.burned ?? 0) + (locks?.held.reduce((sum, { share }) => sum + share, 0) ?? 0);

test("each listing says who holds its LP tokens, and whoever removes the liquidity holds them then", () => {
  const locksOf = new Map<string, LocksEvent[]>();
  const pools = new Set<string>();
  const labels = simulate({ hours: 8, tokens: 30, seed: "locks" }, (event) => {
    if (event.kind === "listing") pools.add(event.pool);
    if (event.kind !== "locks") return;
    expect(pools).toContain(event.pool);
    locksOf.set(event.token, [...(locksOf.get(event.token) ?? []), event]);
  });
  const listed = labels.filter(({ kind }) => kind === "listing");
  const seen = { burned: 0, locked: 0, kept: 0, released: 0 };
  for (const { token, shape, startAtMs } of listed) {
    const locks = locksOf.get(token ?? "") ?? [];
    expect(locks[0]?.at).toBe(startAtMs + 1);
    const last = locks.at(-1);
    if (shape !== "honest") {
      expect(shareOf(last)).toBe(0);
      seen.released += locks.length > 1 ? 1 : 0;
    } else if (last && last.burned > 0) seen.burned += 1;
    else if (last && last.held.length > 0) seen.locked += 1;
    else seen.kept += 1;
  }
  const removed = labels.filter(({ removedAtMs, kind }) => removedAtMs !== null && kind !== "listing");
  for (const { token, removedAtMs } of removed)
    expect(shareOf(lastOf(locksOf.get(token ?? "") ?? [], removedAtMs ?? 0))).toBe(0);
  expect(removed.length).toBeGreaterThan(20);
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(5);
});

test("an honest maker's lock lasts for weeks, and a rug's ends before the rug", () => {
  const spans: number[] = [];
  const rugged = new Set<string>();
  const terms = new Map<string, number>();
  const labels = simulate({ hours: 8, tokens: 30, seed: "locks" }, (event) => {
    if (event.kind !== "locks") return;
    for (const { until } of event.held) if (until !== null) terms.set(event.token, until - event.at);
  });
  for (const { kind, shape, token } of labels)
    if (kind === "listing" && shape !== "honest" && token) rugged.add(token);
  for (const [token, span] of terms) {
    if (rugged.has(token)) expect(span).toBeLessThan(3_600_000);
    else spans.push(span);
  }
  expect(Math.min(...spans)).toBeGreaterThan(20 * 86_400_000);
});
