import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { IS_SOAK } from "../../support/law-runs.ts";
import { engineDetector, priceRule } from "./detectors.ts";
import { inject } from "./injection.ts";
import { createRandom } from "./random.ts";
import { scoreEpisodes } from "./score.ts";
import { loadMarket } from "./series.ts";
import { rowOf, scoreCanary } from "./simulated-evaluation.ts";
import { runSimulated } from "./simulated-run.ts";
import { drawPicture } from "./svg.ts";

const SHIPPED_DAY = fileURLToPath(new URL("../../../examples/data/2017-11-12.csv.gz", import.meta.url));
const ALL_DAYS = fileURLToPath(
  new URL("../../../../shared/data/exchange-1m/2017-11-04_2017-11-14.csv.gz", import.meta.url),
);

/** Minutes of the day. */
const [FROM, TO] = [420, IS_SOAK ? 1_440 : 900];

function fired(file: string, kind: "pump25" | "thin", from: number, to: number): number {
  const injected = inject(loadMarket(file), kind, from, to, createRandom(1));
  return scoreEpisodes(injected.episodes, engineDetector()(injected.market, from, to)).fired;
}

test("on the shipped day, a pump of 25 % is detected, and a thin tick less often than by the price rule", () => {
  expect(fired(SHIPPED_DAY, "pump25", FROM, TO)).toBeGreaterThan(0.9);
  const injected = inject(loadMarket(SHIPPED_DAY), "thin", FROM, TO, createRandom(1));
  const byPrice = scoreEpisodes(injected.episodes, priceRule(8)(injected.market, FROM, TO)).fired;
  expect(byPrice).toBeGreaterThan(0.5);
  expect(fired(SHIPPED_DAY, "thin", FROM, TO)).toBeLessThan(0.3);
});

test.skipIf(!IS_SOAK || !existsSync(ALL_DAYS))(
  "on a later recorded day (needs ../shared), a pump of 25 % is detected",
  () => {
    expect(fired(ALL_DAYS, "pump25", 9_000, 10_000)).toBeGreaterThan(0.9);
  },
  120_000,
);

test.runIf(IS_SOAK)(
  "three hours of a small simulated market: labelled pumps are detected, and the canary is on for dangers but not for honest pumps",
  () => {
    const run = runSimulated({ seed: 1, hours: 3, tokens: 100 });
    const { kinds } = rowOf("Flarewire", [run], true);
    const pumps = kinds.find(({ kind }) => kind === "pump");
    expect(pumps?.n).toBeGreaterThan(2);
    expect(pumps?.fired).toBeGreaterThan(0.5);
    const canaryOf = (kind: string) => scoreCanary(kind, [run]);
    expect(canaryOf("rug").byEnd).toBeGreaterThan(0.7);
    expect(canaryOf("honeypot").byEnd).toBeGreaterThan(0.7);
    expect(canaryOf("pump").byEnd).toBeLessThan(0.3);
  },
  120_000,
);

test("a picture is a well-formed document for any name of the pair", () => {
  const svg = drawPicture({
    title: 'A "<b>" & C',
    note: "n",
    firstMinute: -2,
    price: { values: [null, 0, 1], name: "price" },
    priceUnit: "%",
    score: { values: [0, 1, 7], name: "score" },
    levels: [{ value: 3, label: "starts above 3.00" }],
    marks: [{ from: 1, to: 9, label: "flare", kind: "flare" }],
  });
  expect(svg).toContain("A &quot;&lt;b&gt;&quot; &amp; C");
  expect(svg).not.toMatch(/NaN|Infinity|undefined/);
});
