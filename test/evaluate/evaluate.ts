/*
 * npm run evaluate -- [--candles FILE] [--seeds 1,2,3] [--half first|second] [--json]
 *
 * Injects labelled pumps and decoys into real recorded candles and prints how often Flarewire's detector and two plain rules
 * fire on each. Thresholds are chosen on the first half of the days; the second half is what counts.
 */
import { parseArgs } from "node:util";
import { type Detector, engineDetector, priceRule, volumeRule } from "./detectors.ts";
import { CLASSES, inject } from "./injection.ts";
import { createRandom } from "./random.ts";
import { poolScores, type Score, scoreEpisodes } from "./score.ts";
import { loadMarket, type Market } from "./series.ts";

const { values } = parseArgs({
  options: {
    candles: { type: "string", default: "../shared/data/exchange-1m/2017-11-04_2017-11-14.csv.gz" },
    seeds: { type: "string", default: "1,2,3" },
    half: { type: "string", default: "second" },
    json: { type: "boolean", default: false },
  },
});

const DETECTORS: Readonly<Record<string, Detector>> = {
  flarewire: engineDetector(),
  "price +8 % in 15 min": priceRule(8),
  "volume × 8": volumeRule(8),
};

interface Row {
  readonly detector: string;
  readonly naturalPerPairDay: number;
  readonly scores: Readonly<Record<string, Score>>;
}

const market = loadMarket(values.candles);
const middle = Math.floor(market.minutes / 2);
const [from, to] = values.half === "first" ? [1_440, middle] : [middle, market.minutes];
const seeds = values.seeds.split(",").map(Number);
const rows = Object.entries(DETECTORS).map(([name, detector]) => evaluate(name, detector, market));
process.stdout.write(values.json ? `${JSON.stringify({ half: values.half, seeds, rows })}\n` : table(rows));

function evaluate(name: string, detector: Detector, clean: Market): Row {
  const natural = detector(clean, from, to).length;
  const pairDays = (clean.series.length * (to - from)) / 1_440;
  const scores = CLASSES.map((kind) => {
    const bySeed = seeds.map((seed) => {
      const injected = inject(clean, kind, from, to, createRandom(seed * 7_919));
      return scoreEpisodes(injected.episodes, detector(injected.market, from, to));
    });
    return [kind, poolScores(bySeed)] as const;
  });
  return { detector: name, naturalPerPairDay: natural / pairDays, scores: Object.fromEntries(scores) };
}

function table(all: readonly Row[]): string {
  const head = `${values.half} half of ${values.candles.split("/").at(-1)}, seeds ${seeds.join(" ")}`;
  const lines = all.flatMap(({ detector, naturalPerPairDay, scores }) => [
    `\n${detector}: ${naturalPerPairDay.toFixed(2)} natural flares per pair-day`,
    "  class     n  left out  fired   delay p50  p90  flaps",
    ...Object.entries(scores).map(([kind, score]) => line(kind, score)),
  ]);
  return `${head}\n${lines.join("\n")}\n`;
}

function line(kind: string, score: Score): string {
  const cells = [
    String(score.n).padStart(6),
    String(score.leftOut).padStart(8),
    score.fired.toFixed(3).padStart(8),
    String(score.delayP50).padStart(10),
    String(score.delayP90).padStart(5),
    score.flaps.toFixed(3).padStart(7),
  ];
  return `  ${kind.padEnd(6)}${cells.join("")}`;
}
