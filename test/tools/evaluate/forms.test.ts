import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { IS_SOAK } from "../../support/law-runs.ts";
import { engineDetector } from "./detectors.ts";
import { inject } from "./injection.ts";
import { createRandom } from "./random.ts";
import { loadMarket } from "./series.ts";

const SHIPPED_DAY = fileURLToPath(new URL("../../../examples/data/2017-11-12.csv.gz", import.meta.url));
const [FROM, TO] = [420, IS_SOAK ? 1_440 : 900];

test("the same candles start and end the same flares on the exchange as on BSC, and the causes equal those of BSC's outcomes", () => {
  const { market } = inject(loadMarket(SHIPPED_DAY), "pump10", FROM, TO, createRandom(1));
  const bsc = engineDetector({}, "bsc")(market, FROM, TO);
  const exchange = engineDetector({}, "exchange")(market, FROM, TO);
  const spans = (all: typeof bsc) =>
    all.map(({ pair, startAt, endAt, endedBy }) => `${pair} ${startAt} ${endAt} ${endedBy}`).toSorted();
  expect(bsc.length).toBeGreaterThan(IS_SOAK ? 20 : 10);
  expect(spans(exchange)).toEqual(spans(bsc));
  const withOutcome = bsc.filter(({ outcome }) => outcome !== undefined);
  expect(withOutcome.length).toBeGreaterThan(IS_SOAK ? 20 : 10);
  expect(withOutcome.map(({ endedBy }) => endedBy)).toEqual(
    withOutcome.map(({ outcome }) => outcome?.ended_by),
  );
});
