import fc from "fast-check";
import { expect, test } from "vitest";
import type { LocksEvent } from "../../../src/base/market/index.ts";
import { lawRuns } from "../../support/law-runs.ts";
import { HOUR, MIDNIGHT, simulate } from "./run.ts";

const lastOf = (locks: readonly LocksEvent[], atMs: number) => locks.findLast(({ at }) => at <= atMs);
/** The share that nobody can withdraw at that time. */
const lockedAt = (locks: LocksEvent | undefined, atMs: number) =>
  (locks?.burned ?? 0) +
  (locks?.held ?? []).reduce(
    (sum, { share, until }) => sum + (until === null || until > atMs ? share : 0),
    0,
  );

test("each listing says who holds its LP tokens, and whoever removes the liquidity holds them then", () => {
  const locksOf = new Map<string, LocksEvent[]>();
  const pools = new Set<string>();
  const labels = simulate({ hours: 8, tokens: 30, seed: "locks" }, (event) => {
    if (event.kind === "listing") pools.add(event.pool);
    if (event.kind !== "locks") return;
    if (event.at > MIDNIGHT + 1 && !locksOf.has(event.token)) expect(pools).toContain(event.pool);
    locksOf.set(event.token, [...(locksOf.get(event.token) ?? []), event]);
  });
  const listed = labels.filter(({ kind }) => kind === "listing");
  const seen = { burned: 0, locked: 0, kept: 0, released: 0 };
  for (const { token, shape, startAtMs } of listed) {
    const locks = locksOf.get(token ?? "") ?? [];
    expect(locks[0]?.at).toBe(startAtMs + 1);
    const last = locks.at(-1);
    if (shape !== "honest") {
      seen.released += locks.some(({ held }) => held.length > 0) ? 1 : 0;
    } else if (last && last.burned > 0) seen.burned += 1;
    else if (last && last.held.length > 0) seen.locked += 1;
    else seen.kept += 1;
  }
  const removed = labels.filter(({ removedAtMs }) => removedAtMs && removedAtMs < MIDNIGHT + 8 * HOUR);
  for (const { token, removedAtMs } of removed) {
    const atMs = removedAtMs ?? 0;
    expect(lockedAt(lastOf(locksOf.get(token ?? "") ?? [], atMs), atMs)).toBe(0);
  }
  expect(removed.length).toBeGreaterThan(20);
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(5);
});

test("an honest maker's lock lasts for weeks, and a rug's ends before the rug", () => {
  const spans: number[] = [];
  const rugged = new Set<string>();
  const listed = new Set<string>();
  const terms = new Map<string, number>();
  const labels = simulate({ hours: 8, tokens: 30, seed: "locks" }, (event) => {
    if (event.kind !== "locks") return;
    for (const { until } of event.held) {
      if (until !== null && !terms.has(event.token)) terms.set(event.token, until - event.at);
    }
  });
  for (const { kind, shape, token } of labels)
    if (kind === "listing" && token) (shape === "honest" ? listed : rugged).add(token);
  for (const [token, span] of terms) {
    if (rugged.has(token)) expect(span).toBeLessThan(3_600_000);
    else if (listed.has(token)) spans.push(span);
  }
  expect(spans.length).toBeGreaterThan(5);
  expect(Math.min(...spans)).toBeGreaterThan(20 * 86_400_000);
});

test("[LOCKS] no liquidity is removed that is burned or locked at that time, in any market", () => {
  let [removals, ofLocked] = [0, 0];
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1e9 }), (seed) => {
      const pools = new Map<string, { usd: number; burned: number; held: LocksEvent["held"] }>();
      simulate({ hours: 3, tokens: 60, seed }, (event) => {
        if (event.kind !== "liquidity" && event.kind !== "locks") return;
        const pool = pools.get(event.pool) ?? { usd: 0, burned: 0, held: [] };
        pools.set(event.pool, pool);
        if (event.kind === "locks") {
          Object.assign(pool, { burned: event.burned, held: event.held });
          return;
        }
        const usd = Number(event.usd);
        const factor = event.cause === "sync" ? 1 : usd / pool.usd;
        pool.usd = usd;
        // What is added is not locked.
        pool.burned /= factor;
        pool.held = pool.held.map(({ share, until }) => ({ share: share / factor, until }));
        if (event.cause !== "remove") return;
        const fixed = lockedAt({ ...event, kind: "locks", ...pool }, event.at);
        removals += 1;
        ofLocked += fixed > 0 ? 1 : 0;
        // The pool's last report may be a few percent old.
        expect(fixed).toBeLessThan(1.06);
      });
    }),
    lawRuns(6, 20),
  );
  expect(removals).toBeGreaterThan(100);
  expect(ofLocked).toBeGreaterThan(10);
});

test("old pools are burned, locked with and without a term, or kept; a consumer hears it again within hours", () => {
  const locksOf = new Map<string, LocksEvent[]>();
  const reports = new Map<string, number[]>();
  simulate({ hours: 3, tokens: 200, seed: "old" }, (event) => {
    if (event.kind === "locks") locksOf.set(event.pool, [...(locksOf.get(event.pool) ?? []), event]);
    if (event.kind === "liquidity")
      reports.set(event.pool, [...(reports.get(event.pool) ?? []), event.at - MIDNIGHT]);
  });
  const first = [...locksOf.values()].flatMap(([locks]) => (locks?.at === MIDNIGHT + 1 ? [locks] : []));
  const share = (isOne: (locks: LocksEvent) => boolean) => first.filter(isOne).length / first.length;
  expect(first.length).toBeGreaterThan(150);
  expect(share(({ burned }) => burned > 0)).toBeGreaterThan(0.1);
  expect(share(({ held }) => held.some(({ until }) => until !== null))).toBeGreaterThan(0.1);
  expect(share(({ held }) => held.some(({ until }) => until === null))).toBeGreaterThan(0.02);
  expect(share(({ burned, held }) => burned === 0 && held.length === 0)).toBeGreaterThan(0.3);
  for (const { pool } of first) {
    if (!reports.get(pool)?.some((at) => at > 2 * HOUR)) continue;
    expect(locksOf.get(pool)?.length, pool).toBeGreaterThan(1);
  }
});
