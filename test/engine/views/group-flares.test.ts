import { expect, test } from "vitest";
import { HOUR_MS, MINUTE_MS } from "../../../src/base/lib/time/time.ts";
import type { MarketEvent } from "../../../src/base/market/index.ts";
import {
  type AnyFlares,
  flaresKeyOf,
  isAdditional,
  OTHER_GROUPS,
  Snapshot,
} from "../../../src/base/model/index.ts";
import { TrendEngine } from "../../../src/engine/index.ts";
import { createSimulatedMarket } from "../../../src/feeds/simulated/market/simulated-market.ts";
import { IS_SOAK } from "../../support/law-runs.ts";

const FACTS = { trades: true, liquidity: true, listings: true, profiles: true };
const BEGIN_MS = Date.UTC(2026, 0, 1);
/** The simulated market has no additional groups. */
const SIMULATED = OTHER_GROUPS.filter((group) => !isAdditional(group));

test("tokens of every simulated group flare, in the format of their group, with explanations and outcomes", () => {
  const market = createSimulatedMarket({
    seed: 3,
    beginAtMs: BEGIN_MS,
    tokens: IS_SOAK ? 240 : 120,
  });
  const engine = new TrendEngine({ facts: FACTS });
  const started = new Set<string>();
  let charted = 0;
  for (let at = BEGIN_MS; at <= BEGIN_MS + 3 * HOUR_MS; at += 10 * MINUTE_MS) {
    const events: MarketEvent[] = [];
    market.advanceTo(at, events);
    for (const event of events) engine.accept(event);
    const snapshot = Snapshot.parse(engine.snapshot());
    for (const group of SIMULATED) {
      const lists: AnyFlares = snapshot[flaresKeyOf(group)];
      for (const flare of lists.pro) {
        expect(flare).toMatchObject({ group, finished_trending_at: null });
        expect(snapshot.explanations[flare.id]).toMatchObject({ finish_cause: null });
        started.add(`${group} ${flare.id}`);
      }
      for (const { id } of lists.free) expect(lists.pro.map((flare) => flare.id)).toContain(id);
      for (const { id } of lists.finished_trending) expect(snapshot.outcomes[id]).toBeDefined();
    }
    // Other lists name a flare by its id once it is public.
    for (const { flare: shown } of snapshot.charts.bsc) {
      const own = snapshot.flares.free.find(({ token }) => token.address === shown.token.address);
      if (own) expect(shown).toMatchObject({ id: own.id, relevant: true });
      if (own) charted += 1;
    }
    for (const { token, pair, exchange, liquidity } of snapshot["flares.exchange"].pro) {
      expect(token).not.toHaveProperty("address");
      expect([pair, liquidity]).toEqual([`${token.symbol}/USDT`, "0"]);
      expect(exchange).toMatch(/^venue[123]$/);
    }
  }
  expect(charted).toBeGreaterThan(0);
  const counts = SIMULATED.map((group) => [...started].filter((key) => key.startsWith(group)).length);
  expect(Math.min(...counts)).toBeGreaterThan(0);
  const ended = SIMULATED.map((group) => engine.snapshot()[flaresKeyOf(group)].finished_trending.length);
  expect(Math.min(...ended)).toBeGreaterThan(0);
});
