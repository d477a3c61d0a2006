import { expect, test } from "vitest";
import type { MarketEvent } from "../../../src/base/market/index.ts";
import type { Snapshot } from "../../../src/base/model/index.ts";
import { MOMENT, playPump, TOKEN } from "../pump-market.ts";
import { address, liquidity, listing, MINUTE, SECOND } from "../trend-kit.ts";

/** Plays a pump during which its liquidity changes. */
function play(extra: readonly MarketEvent[], change?: (event: MarketEvent) => MarketEvent) {
  const { running, canarySeconds, causes, warnings, last } = playPump({ extra, ...(change && { change }) });
  return { outcome: { canarySeconds, causes, warnings, running: running.length }, last, causes, warnings };
}

test("a rebalance of 60 % that returns one second later neither turns the canary on nor ends a flare", () => {
  const rebalance = [
    liquidity(MOMENT, TOKEN, "20000", "remove"),
    liquidity(MOMENT + SECOND, TOKEN, "50000", "add"),
  ];
  expect(play(rebalance).outcome).toEqual({ canarySeconds: 0, causes: [], warnings: [], running: 1 });
});

test("liquidity that stays in a pool for one block only ends no flare", () => {
  const inAndOut = Array.from({ length: 5 }, (_, n) => [
    liquidity(MOMENT + n * MINUTE, TOKEN, "500000", "add"),
    liquidity(MOMENT + n * MINUTE, TOKEN, "501000", "sync"),
    liquidity(MOMENT + n * MINUTE, TOKEN, "50100", "remove"),
  ]).flat();
  expect(play(inAndOut).outcome).toEqual({ canarySeconds: 0, causes: [], warnings: [], running: 1 });
});

/** Moves the token's trades after the removal to a quiet token. */
function quiet(event: MarketEvent): MarketEvent {
  return event.kind === "trade" && event.token === TOKEN && event.at > MOMENT
    ? { ...event, token: address(100), pool: `pool-${address(100)}` }
    : event;
}

test("missing liquidity ends the flare exactly after the grace period, even without trades", () => {
  const removal = liquidity(MOMENT, TOKEN, "20000", "remove");
  const { causes, warnings, last } = play([removal], quiet);
  expect(causes).toEqual(["canary"]);
  expect(warnings).toContain("liquidity-removed");
  const [flare] = last.flares.finished_trending;
  expect(Date.parse(flare?.finished_trending_at ?? "") - MOMENT).toBe(MINUTE);
});

test("liquidity that plunged is a warning at once, which neither turns the canary on nor outlasts the return of the liquidity", () => {
  const seen = new Set<string>();
  const onSnapshot = ({ explanations }: Snapshot, atMs: number) => {
    const [why] = Object.values(explanations);
    if (atMs >= MOMENT && atMs <= MOMENT + 4 * SECOND)
      seen.add(
        `${(atMs - MOMENT) / SECOND} s: ${why?.warnings.join()}; ${why?.text.match(/warning: .*/)?.[0]}`,
      );
  };
  const away = liquidity(MOMENT + SECOND, TOKEN, "20000", "remove");
  const back = liquidity(MOMENT + 3 * SECOND, TOKEN, "50000", "add");
  const { canarySeconds, running } = playPump({ extra: [away, back], onSnapshot });
  expect([...seen]).toEqual([
    "0 s: ; undefined",
    "2 s: liquidity-plunged; warning: liquidity plunged",
    "4 s: ; undefined",
  ]);
  expect([canarySeconds, running.length]).toEqual([0, 1]);
});

test("liquidity that shrinks with a falling price does not count as removed", () => {
  const fall = Array.from({ length: 10 }, (_, n) =>
    liquidity(MOMENT + n * SECOND, TOKEN, `${50_000 - 3_000 * (n + 1)}`, "sync"),
  );
  expect(play(fall).warnings).not.toContain("liquidity-removed");
});

test("liquidity that trading moved out of range also raises a warning, because its removal would be invisible", () => {
  const steps = Array.from({ length: 60 }, (_, n) =>
    liquidity(MOMENT + n * SECOND, TOKEN, `${Math.round(50_000 * 0.85 ** (n + 1))}`, "sync"),
  );
  const away = liquidity(MOMENT + 61 * SECOND, TOKEN, "0", "remove");
  const { causes, warnings } = play([...steps, away]);
  expect(causes).toEqual(["canary"]);
  expect(warnings).toContain("liquidity-removed");
});

test("an attacker's pool that is huge for one block does not end a flare", () => {
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
    expect(play(attack).outcome).toEqual({ canarySeconds: 0, causes: [], warnings: [], running: 1 });
});

test("liquidity that returns for one block a minute does not hide a rug", () => {
  const hidden = [liquidity(MOMENT, TOKEN, "100", "remove")];
  for (let at = MOMENT + 59 * SECOND; at < MOMENT + 5 * MINUTE; at += 59 * SECOND)
    hidden.push(liquidity(at, TOKEN, "60000", "add"), liquidity(at, TOKEN, "100", "remove"));
  expect(play(hidden).causes).toEqual(["canary"]);
});
