import { expect, test } from "vitest";
import type { MarketEvent } from "../../../src/base/market/index.ts";
import { MOMENT, playPump, TOKEN } from "../pump-market.ts";
import type { Script } from "../trade-market.ts";
import { liquidity, listing, MINUTE, SECOND, START } from "../trend-kit.ts";

/** Other than a whole second, because an engine judges at whole ones. */
const AT = MOMENT + 10;
const POOL = `pool-${TOKEN}`;

interface Gone {
  /** The pool of the token's trades after `AT`. Default: none, there are no trades. */
  readonly tradedIn?: string;
  readonly script?: Script;
  /** Whether the pool is listed before its first trade. Default: true. */
  readonly listed?: boolean;
}

/** Plays a pump during which its liquidity changes. Returns its end, in seconds after `AT`. */
function play(extra: readonly MarketEvent[], { tradedIn, script, listed = true }: Gone = {}) {
  const change = (event: MarketEvent): MarketEvent | undefined => {
    if (event.kind === "listing" && event.token === TOKEN) return listed ? event : undefined;
    if (event.kind !== "trade" || event.token !== TOKEN || event.at < AT) return event;
    return tradedIn === undefined ? undefined : { ...event, pool: tradedIn };
  };
  const { causes, warnings, canarySeconds, last } = playPump({ extra, change, ...(script && { script }) });
  const ends = last.flares.finished_trending.map(
    ({ finished_trending_at }) => (Date.parse(finished_trending_at ?? "") - AT) / SECOND,
  );
  return { causes, ends, isWarned: warnings.includes("liquidity-removed"), canarySeconds };
}

const HARMLESS = { causes: [], ends: [], isWarned: false, canarySeconds: 0 };
const remove = (usd: string, at = AT, pool = POOL) => liquidity(at, TOKEN, usd, "remove", pool);

test("when a removal empties the pool, the warning and the end of the flare come within five seconds", () => {
  for (const left of ["0", "2500"]) {
    const { causes, ends, isWarned, canarySeconds } = play([remove(left)]);
    expect({ causes, isWarned }).toEqual({ causes: ["canary"], isWarned: true });
    expect(ends[0]).toBeGreaterThan(4);
    expect(ends[0]).toBeLessThanOrEqual(5);
    expect(canarySeconds).toBeGreaterThan(0);
  }
});

test("a removal in several steps of one transaction ends the flare as fast", () => {
  const { ends } = play([remove("30000"), remove("4000"), remove("1000")]);
  expect(ends[0]).toBeLessThanOrEqual(5);
});

test("a removal that leaves more than a twentieth keeps the grace of a minute", () => {
  expect(play([remove("2600")]).ends[0]).toBe(60.99);
});

test("all liquidity may leave the pool and return three seconds later, again and again", () => {
  const moves = [0, 30, 60, 90].flatMap((wait) => [
    remove("0", AT + wait * SECOND),
    liquidity(AT + (wait + 3) * SECOND, TOKEN, "50000", "add"),
  ]);
  expect(play(moves, { tradedIn: POOL })).toEqual(HARMLESS);
});

test("liquidity that returned is not gone: a partial removal soon afterwards has its own minute", () => {
  const moves = [
    remove("0"),
    liquidity(AT + 3 * SECOND, TOKEN, "50000", "add"),
    remove("20000", AT + 5 * SECOND),
    liquidity(AT + 35 * SECOND, TOKEN, "50000", "add"),
  ];
  expect(play(moves, { tradedIn: POOL })).toEqual(HARMLESS);
});

test("liquidity that is added around one trade and withdrawn does not count as gone", () => {
  const inAndOut = [liquidity(AT, TOKEN, "2000000", "add"), remove("50000", AT + 2 * SECOND)];
  expect(play(inAndOut, { tradedIn: POOL })).toEqual(HARMLESS);
});

test("liquidity that appears in another pool just before, with or just after the removal is a migration", () => {
  for (const wait of [-20, 0, 3]) {
    const arrival = { ...listing(AT + wait * SECOND, TOKEN, "new-pool"), liquidity: "50000" };
    expect(play([arrival, remove("50")], { tradedIn: "new-pool" })).toEqual(HARMLESS);
  }
});

test("if only a part appears in another pool, the rest has the grace of a minute to follow", () => {
  for (const wait of [-20, 0, 3]) {
    const part = { ...listing(AT + wait * SECOND, TOKEN, "new-pool"), liquidity: "15000" };
    const rest = liquidity(AT + 30 * SECOND, TOKEN, "50000", "add", "new-pool");
    expect(play([part, remove("50"), rest], { tradedIn: "new-pool" })).toEqual(HARMLESS);
    expect(play([part, remove("50")]).ends[0]).toBe(60.99);
  }
});

test("a migration that takes 20 seconds ends a running flare, but a token without one keeps the grace of a minute", () => {
  const migration = [remove("50"), { ...listing(AT + 20 * SECOND, TOKEN, "new-pool"), liquidity: "50000" }];
  expect(play(migration).causes).toEqual(["canary"]);
  const calm: Script = { token: TOKEN, rate: () => 2, buyShare: () => 0.5 };
  expect(play(migration, { script: calm })).toEqual(HARMLESS);
});

test("a second pool that keeps its liquidity does not delay the end when the deep one is emptied", () => {
  const second = liquidity(START, TOKEN, "8000", "add", "second");
  const { causes, ends } = play([second, remove("0")]);
  expect(causes).toEqual(["canary"]);
  expect(ends[0]).toBeLessThanOrEqual(5);
});

test("a pool that has been known for less than two minutes keeps the grace of a minute", () => {
  const emptied = (knownMs: number) =>
    play([listing(AT - knownMs, TOKEN), remove("0")], { listed: false }).ends[0];
  expect(emptied(2 * MINUTE - 1)).toBe(60.99);
  expect(emptied(2 * MINUTE)).toBe(4.99);
});
