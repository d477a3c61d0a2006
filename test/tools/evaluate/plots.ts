import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { minutesOf } from "./candle-evaluation.ts";
import { addressOf, engineDetector, runEngine } from "./detectors.ts";
import { CLASSES, type InjectedClass, inject } from "./injection.ts";
import { createRandom } from "./random.ts";
import type { Span } from "./score.ts";
import { type Market, MINUTE_MS } from "./series.ts";
import { drawPicture, type Mark, type Picture } from "./svg.ts";

const BEFORE_MINUTES = 45;
const AFTER_MINUTES = 90;
const BURST = { pair: "BTC_BCC", fromMs: Date.UTC(2017, 10, 12, 8, 21), toMs: Date.UTC(2017, 10, 12, 8, 35) };

const TITLES: Readonly<Record<InjectedClass, string>> = {
  pump5: "An injected pump of 5 %",
  pump10: "An injected pump of 10 %",
  pump25: "An injected pump of 25 %",
  wash: "Decoy: volume × 20 for 20 minutes, no price",
  thin: "Decoy: +10 % for two minutes on a fifth of the volume",
  wide: "Decoy: every pair +10 % within ten minutes",
};

/**
 * Writes a picture of a typical episode of the second half for each class, and one of the recorded
 * burst if the market has it. Returns the file names.
 */
export function writePlots(directory: string, market: Market, seed: number): readonly string[] {
  mkdirSync(directory, { recursive: true });
  const files: string[] = [];
  const write = (name: string, picture: Picture | undefined) => {
    if (!picture) return;
    const file = join(directory, `${name}.svg`);
    writeFileSync(file, drawPicture(picture));
    files.push(file);
  };
  for (const kind of CLASSES) write(kind, pictureOfClass(market, kind, seed));
  write("recorded-burst", pictureOfBurst(market));
  return files;
}

/**
 * Draws a typical episode: of the first slot's episodes, the first one with the most frequent
 * result, if possible without a natural flare near it.
 */
function pictureOfClass(market: Market, kind: InjectedClass, seed: number): Picture | undefined {
  const [from] = minutesOf(market, "second");
  const to = Math.min(market.minutes, from + 480 + AFTER_MINUTES);
  const injected = inject(
    market,
    kind,
    from,
    Math.min(market.minutes, from + 480),
    createRandom(seed * 7_919),
  );
  const flares = engineDetector()(injected.market, from, to);
  const hit = (episode: Span) =>
    flares.some(
      ({ pair, startAt }) =>
        pair === episode.pair && startAt >= episode.startAt && startAt < episode.endAt + 5,
    );
  const hits = injected.episodes.filter(hit).length;
  const isUsual = hits * 2 > injected.episodes.length;
  const usual = injected.episodes.filter((one) => hit(one) === isUsual);
  const isAlone = (one: Span) => flaresNear(one, flares).length === (isUsual ? 1 : 0);
  const episode = usual.find(isAlone) ?? usual[0];
  if (!episode) return undefined;
  const title = `${TITLES[kind]}: ${episode.pair}`;
  const note = `Candles of one minute; ${hits} of the ${injected.episodes.length} episodes of these 8 hours fired.`;
  return pictureOf(injected.market, { title, note, episode, flares, truth: "injected" });
}

function flaresNear({ pair, startAt }: Span, flares: readonly Span[]): readonly Span[] {
  const [from, to] = [startAt - BEFORE_MINUTES, startAt + AFTER_MINUTES];
  return flares.filter((flare) => flare.pair === pair && flare.startAt < to && flare.endAt > from);
}

function pictureOfBurst(market: Market): Picture | undefined {
  const startAt = (BURST.fromMs - market.startMs) / MINUTE_MS;
  const endAt = (BURST.toMs - market.startMs) / MINUTE_MS;
  if (!market.series.some(({ pair }) => pair === BURST.pair)) return undefined;
  if (startAt < BEFORE_MINUTES || endAt > market.minutes) return undefined;
  const episode = { pair: BURST.pair, startAt, endAt };
  const from = startAt - BEFORE_MINUTES;
  const flares = engineDetector()(market, from, Math.min(market.minutes, startAt + AFTER_MINUTES));
  const title = `As recorded: ${BURST.pair} on 12 November 2017`;
  const note = "Nothing injected: candles of one minute as the exchange published them. 0 is 08:21 UTC.";
  return pictureOf(market, { title, note, episode, flares, truth: "the burst" });
}

function pictureOf(
  market: Market,
  scene: {
    readonly title: string;
    readonly note: string;
    readonly episode: Span;
    readonly flares: readonly Span[];
    readonly truth: string;
  },
): Picture {
  const { episode } = scene;
  const from = episode.startAt - BEFORE_MINUTES;
  const to = Math.min(market.minutes, episode.startAt + AFTER_MINUTES);
  const closes = market.series.find(({ pair }) => pair === episode.pair)?.close ?? new Float64Array();
  const base = closes[episode.startAt - 1] ?? Number.NaN;
  const scores: (number | null)[] = [];
  let levels: Picture["levels"] = [];
  runEngine(market, { from, to, settings: {} }, (engine, at) => {
    if (at < from) return;
    const reading = engine.readingOf("bsc", addressOf(episode.pair));
    scores.push(reading?.score ?? null);
    if (!reading) return;
    const { threshold, finish_threshold } = reading;
    levels = [
      { value: threshold, label: `starts above ${threshold.toFixed(2)}` },
      { value: finish_threshold, label: `fades below ${finish_threshold.toFixed(2)}` },
    ];
  });
  const { startAt, endAt } = episode;
  const marks: Mark[] = [
    { from: startAt - from, to: endAt - from, label: scene.truth, kind: "truth" },
    ...flaresNear(episode, scene.flares).map((flare): Mark => {
      const finish = flare.endAt < to ? `, finishes at ${flare.endAt - startAt + 1}` : "";
      const label = `flare: starts at minute ${flare.startAt - startAt + 1}${finish}`;
      return { from: flare.startAt - from, to: flare.endAt - from, label, kind: "flare" };
    }),
  ];
  const percent = Array.from(closes.subarray(from, to), (close) =>
    Number.isNaN(close) ? null : (close / base - 1) * 100,
  );
  return {
    title: scene.title,
    note: scene.note,
    firstMinute: -BEFORE_MINUTES,
    price: { values: percent, name: "price" },
    priceUnit: "price, %",
    score: { values: scores, name: "score" },
    levels,
    marks,
  };
}
