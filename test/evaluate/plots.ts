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

/** Writes a picture per class, each of a typical episode of the second half, and one of the recorded burst if the market has it. Yields the files. */
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

/** Typical: of the first slot's episodes, the first that fared as most of them did. */
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
  const episode = injected.episodes.find((one) => hit(one) === isUsual);
  if (!episode) return undefined;
  const title = `${TITLES[kind]}: ${episode.pair}`;
  const note = `Candles of one minute; ${hits} of the ${injected.episodes.length} episodes of these 8 hours fired.`;
  return pictureOf(injected.market, { title, note, episode, flares, truth: "injected" });
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
  const inside = (at: number) => Math.max(0, Math.min(to - 1, at) - from);
  const marks: Mark[] = [
    { from: inside(episode.startAt), to: inside(episode.endAt), label: scene.truth, kind: "truth" },
    ...scene.flares
      .filter((flare) => flare.pair === episode.pair && flare.startAt < to && flare.endAt > from)
      .map((flare): Mark => {
        const minute = flare.startAt - episode.startAt + 1;
        const label = `flare: starts at minute ${minute}, finishes at ${flare.endAt - episode.startAt + 1}`;
        return { from: inside(flare.startAt), to: inside(flare.endAt), label, kind: "flare" };
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
