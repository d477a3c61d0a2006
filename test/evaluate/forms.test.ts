import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { type CandleForm, engineDetector } from "./detectors.ts";
import { inject } from "./injection.ts";
import { createRandom } from "./random.ts";
import { scoreEpisodes } from "./score.ts";
import { loadMarket, type Market } from "./series.ts";

const SHIPPED_DAY = fileURLToPath(new URL("../../examples/data/2017-11-12.csv.gz", import.meta.url));
const [FROM, TO] = [420, 1_440];

/** The shipped day with pumps of 10 %, of whose volume `share` is bought. */
function pumpedDay(share: number) {
  const day = loadMarket(SHIPPED_DAY);
  const { market, episodes } = inject(day, "pump10", FROM, TO, createRandom(1));
  const series = market.series.map((one) => ({ ...one, bought: one.volume.map((usd) => usd * share) }));
  return { market: { ...market, series }, episodes };
}

function flaresOf(market: Market, form: CandleForm) {
  return engineDetector({}, form)(market, FROM, TO);
}

test("the same candles start and end the same flares on the exchange as on BSC, by the causes that BSC's outcomes tell", () => {
  const { market } = pumpedDay(0.5);
  const bsc = flaresOf(market, { group: "bsc", knowsBought: false });
  const exchange = flaresOf(market, { group: "exchange", knowsBought: false });
  const spans = (all: typeof bsc) =>
    all.map(({ pair, startAt, endAt, endedBy }) => `${pair} ${startAt} ${endAt} ${endedBy}`).toSorted();
  expect(bsc.length).toBeGreaterThan(20);
  expect(spans(exchange)).toEqual(spans(bsc));
  const told = bsc.filter(({ outcome }) => outcome !== undefined);
  expect(told.length).toBeGreaterThan(20);
  expect(told.map(({ endedBy }) => endedBy)).toEqual(told.map(({ outcome }) => outcome?.ended_by));
}, 120_000);

test("bought volume counts on the exchange: pumps that takers sell into flare less often", () => {
  const form = { group: "exchange", knowsBought: true } as const;
  const recall = (share: number) => {
    const { market, episodes } = pumpedDay(share);
    return scoreEpisodes(episodes, flaresOf(market, form)).fired;
  };
  expect(recall(0.95)).toBeGreaterThan(0.9);
  expect(recall(0)).toBeLessThan(0.7);
}, 120_000);
