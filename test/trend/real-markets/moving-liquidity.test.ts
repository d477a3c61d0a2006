import { expect, test } from "vitest";
import type { MarketEvent } from "../../../src/market/index.ts";
import { TrendEngine } from "../../../src/trend/index.ts";
import { crowdOf, playScripts, type Script } from "../trade-market.ts";
import { address, drive, liquidity, listing, MINUTE, SECOND, START, withClocks } from "../trend-kit.ts";

const TOKEN = address(1);
const PUMP_AT = 60;
const MOMENT = START + (PUMP_AT + 6) * MINUTE;
const UNTIL = PUMP_AT + 11;
const isPump = (minute: number) => minute >= PUMP_AT;
const pump: Script = {
  token: TOKEN,
  rate: (minute) => (isPump(minute) ? 25 : 2),
  buyShare: (minute) => (isPump(minute) ? 0.8 : 0.5),
};

/** A running pump, and what makers do with the liquidity meanwhile. */
function play(extra: readonly MarketEvent[], moved: (event: MarketEvent) => MarketEvent = (event) => event) {
  const events = [...playScripts([...crowdOf(8), pump], UNTIL).map(moved), ...extra];
  const engine = new TrendEngine();
  let canarySeconds = 0;
  let causes: (string | null | undefined)[] = [];
  drive(engine, withClocks(events, START + UNTIL * MINUTE, START - 3_000), ({ flares, explanations }) => {
    causes = flares.finished_trending.map(({ id }) => explanations[id]?.finish_cause);
    if (engine.trendOf("bsc", TOKEN)?.canarySinceMs != null) canarySeconds += 1;
  });
  const warnings = Object.values(engine.snapshot().explanations).flatMap(({ warnings }) => warnings);
  return { canarySeconds, causes, warnings, running: engine.snapshot().flares.pro.length };
}

test("a rebalance of 60 % that is back one second later gives no canary and ends no flare", () => {
  const rebalance = [
    liquidity(MOMENT, TOKEN, "20000", "remove"),
    liquidity(MOMENT + SECOND, TOKEN, "50000", "add"),
  ];
  expect(play(rebalance)).toEqual({ canarySeconds: 0, causes: [], warnings: [], running: 1 });
});

test("liquidity that stands in a pool for one block only ends no flare", () => {
  const inAndOut = Array.from({ length: 5 }, (_, n) => [
    liquidity(MOMENT + n * MINUTE, TOKEN, "500000", "add"),
    liquidity(MOMENT + n * MINUTE, TOKEN, "501000", "sync"),
    liquidity(MOMENT + n * MINUTE, TOKEN, "50100", "remove"),
  ]).flat();
  expect(play(inAndOut)).toEqual({ canarySeconds: 0, causes: [], warnings: [], running: 1 });
});

test("a migration from one pool to another within the grace period is not a rug, and the new pool sets the price", () => {
  const migration = [
    liquidity(MOMENT, TOKEN, "50", "remove"),
    { ...listing(MOMENT + 20 * SECOND, TOKEN, "new-pool"), liquidity: "50000" },
  ];
  const moved = (event: MarketEvent): MarketEvent =>
    event.kind === "trade" && event.token === TOKEN && event.at >= MOMENT
      ? { ...event, pool: "new-pool" }
      : event;
  const delayed = (event: MarketEvent): MarketEvent =>
    event.kind === "trade" && event.token === TOKEN && event.at >= MOMENT && event.at < MOMENT + 21 * SECOND
      ? { ...event, at: MOMENT + 21 * SECOND }
      : event;
  expect(play(migration, (event) => delayed(moved(event)))).toEqual({
    canarySeconds: 0,
    causes: [],
    warnings: [],
    running: 1,
  });
});

test("liquidity that is gone for the grace period ends the flare, to the second, also when nobody trades", () => {
  const removal = liquidity(MOMENT, TOKEN, "20000", "remove");
  const quiet = (event: MarketEvent): MarketEvent =>
    event.kind === "trade" && event.token === TOKEN && event.at > MOMENT
      ? { ...event, token: address(100), pool: `pool-${address(100)}` }
      : event;
  const { causes, warnings } = play([removal], quiet);
  expect(causes).toEqual(["canary"]);
  expect(warnings).toContain("liquidity-removed");
  const engine = new TrendEngine();
  const events = [...playScripts([...crowdOf(8), pump], UNTIL).map(quiet), removal];
  const last = drive(engine, withClocks(events, START + UNTIL * MINUTE, START - 3_000));
  const [flare] = last.flares.finished_trending;
  expect(Date.parse(flare?.finished_trending_at ?? "") - MOMENT).toBe(MINUTE);
});

test("a price that falls takes liquidity along, which nobody removed", () => {
  const fall = Array.from({ length: 10 }, (_, n) =>
    liquidity(MOMENT + n * SECOND, TOKEN, `${50_000 - 3_000 * (n + 1)}`, "sync"),
  );
  expect(play(fall).warnings).not.toContain("liquidity-removed");
});

test("liquidity that trading drove out of reach, step by step, warns as well: it may then be taken away unseen", () => {
  const steps = Array.from({ length: 60 }, (_, n) =>
    liquidity(MOMENT + n * SECOND, TOKEN, `${Math.round(50_000 * 0.85 ** (n + 1))}`, "sync"),
  );
  const away = liquidity(MOMENT + 61 * SECOND, TOKEN, "0", "remove");
  const { causes, warnings } = play([...steps, away]);
  expect(causes).toEqual(["canary"]);
  expect(warnings).toContain("liquidity-removed");
});

test("nobody ends another's flare with a pool of his own that is huge for one block", () => {
  const byTrading = [
    { ...listing(MOMENT, TOKEN, "own"), liquidity: "200" },
    liquidity(MOMENT, TOKEN, "2000000", "sync", "own"),
    liquidity(MOMENT, TOKEN, "0", "remove", "own"),
  ];
  const neverSeen = [
    liquidity(MOMENT, TOKEN, "2000000", "sync", "own"),
    liquidity(MOMENT, TOKEN, "0", "remove", "own"),
  ];
  for (const attack of [byTrading, neverSeen])
    expect(play(attack)).toEqual({ canarySeconds: 0, causes: [], warnings: [], running: 1 });
});

test("a rug is not hidden by liquidity that returns for one block a minute", () => {
  const hidden = [liquidity(MOMENT, TOKEN, "100", "remove")];
  for (let at = MOMENT + 59 * SECOND; at < MOMENT + 5 * MINUTE; at += 59 * SECOND)
    hidden.push(liquidity(at, TOKEN, "60000", "add"), liquidity(at, TOKEN, "100", "remove"));
  expect(play(hidden).causes).toEqual(["canary"]);
});
