import type { Clock } from "../../lib/time/clock.ts";
import { HOUR_MS, SECOND_MS } from "../../lib/time/time.ts";
import type { MarketEvent } from "../../market/index.ts";
import type { Feed } from "../feed.ts";
import { addRecent, type Label, type LabelSink } from "./market/episodes/label.ts";
import { createSimulatedMarket, type SimulatedMarket } from "./market/simulated-market.ts";

const DEFAULT_TOKENS = 480;
const MAX_TOKENS = 100_000;
/** Made and handed over in pieces of this much event time. */
const PIECE_MS = SECOND_MS;
/** Behind its time, the feed lets others run after this much work, whichever comes first. */
const BREATH_AFTER_MS = 12;
const BREATH_AFTER_EVENTS = 10_000;
/** It never sleeps shorter, so that high speeds come in batches, and never longer, so that a clock that was wrong is soon right. */
const MIN_SLEEP_MS = 20;
const MAX_SLEEP_MS = 1_000;

/** What the feed tells, and how fast. */
export interface SimulatedFeedOptions {
  /** What the market is made from; default 1. The same seed, start and warm-up yield the same events, at any speed. The number 1 and the text "1" are the same. */
  readonly seed?: number | string;
  /** Event time, in whole milliseconds, that is reached at the moment when iteration begins: "now". The warm-up lies before it. */
  readonly startAtMs: number;
  /** How much of the past is told at once, as fast as it can be made; default 6 hours. 0: none. Idle with {@link resume}. */
  readonly warmupMs?: number;
  /** Go on with a market that was there before, as if nothing had happened. Default: a new one begins with the warm-up. */
  readonly resume?: SimulatedResume;
  /** Event time per wall time after the warm-up; default 1. Infinity: as fast as it can be made. Above 0. */
  readonly speed?: number;
  /** Paces the events by its monotonic time. */
  readonly clock: Clock;
  /** Established tokens over all groups, from 4 to 100,000; default 480. Some hundred newly listed ones come on top. */
  readonly tokens?: number;
  /** Event time after `startAtMs` at which the feed ends; default Infinity. 0: after the warm-up. */
  readonly durationMs?: number;
  /** Told of each label as its episode starts, before its events are yielded. */
  readonly onLabel?: LabelSink;
}

/** Where a simulated market goes on. It is made again up to there, which takes about a tenth of a second for each hour. */
export interface SimulatedResume {
  /** What {@link SimulatedFeed.beginAtMs} was. */
  readonly beginAtMs: number;
  /** Nothing up to and including the `clock` of this event time is told again. What lies between it and `startAtMs` is told at once. */
  readonly afterMs: number;
}

/** A feed that knows the truth about what it reports. */
interface SimulatedFeed extends Feed {
  /** What the market has done on purpose so far, in the order in which it began; it grows while the events are read. The newest 10,000. */
  readonly labels: readonly Label[];
  /** Event time at which its market begins: with the seed, what it is made from. */
  readonly beginAtMs: number;
}

/**
 * The simulated market as a feed: some hundred tokens in all four groups. It first tells the warm-up at full speed, letting the event loop
 * breathe, then goes on in step with the clock: event time is `startAtMs` plus the time since iteration began times the speed, so it neither
 * drifts nor loses what a slow reader left waiting. Throws RangeError for an option out of its bounds.
 */
export function createSimulatedFeed(options: SimulatedFeedOptions): SimulatedFeed {
  const settings = checked(options);
  const { beginAtMs } = settings;
  const labels: Label[] = [];
  let isTaken = false;
  const onLabel: LabelSink = (label) => {
    addRecent(labels, label);
    options.onLabel?.(label);
  };
  return {
    name: "simulated",
    origin: "simulated",
    facts: { trades: true, liquidity: true, listings: true, profiles: true },
    labels,
    beginAtMs,
    events(signal) {
      if (isTaken) throw new Error("the simulated feed can be iterated only once");
      isTaken = true;
      const market = createSimulatedMarket({
        seed: settings.seed,
        beginAtMs,
        tokens: settings.tokens,
        onLabel,
      });
      return paced(market, settings, signal);
    },
  };
}

type Settings = Required<Omit<SimulatedFeedOptions, "onLabel" | "resume">> & SimulatedResume;

function checked(options: SimulatedFeedOptions): Settings {
  const warmup = options.warmupMs ?? 6 * HOUR_MS;
  const fresh = { beginAtMs: options.startAtMs - warmup, afterMs: Number.NEGATIVE_INFINITY };
  const settings: Settings = {
    seed: options.seed ?? 1,
    startAtMs: options.startAtMs,
    warmupMs: warmup,
    ...(options.resume ?? fresh),
    speed: options.speed ?? 1,
    clock: options.clock,
    tokens: options.tokens ?? DEFAULT_TOKENS,
    durationMs: options.durationMs ?? Number.POSITIVE_INFINITY,
  };
  const { startAtMs, warmupMs, speed, tokens, durationMs } = settings;
  if (!Number.isSafeInteger(startAtMs) || startAtMs < 0) {
    throw new RangeError(`startAtMs must be a whole number of at least 0, not ${startAtMs}`);
  }
  if (!Number.isSafeInteger(warmupMs) || warmupMs < 0 || warmupMs > startAtMs) {
    throw new RangeError(
      `warmupMs must be a whole number from 0 to startAtMs (${startAtMs}), not ${warmupMs}`,
    );
  }
  const { resume } = options;
  if (
    resume &&
    !(0 <= resume.beginAtMs && resume.beginAtMs <= resume.afterMs && resume.afterMs <= startAtMs)
  ) {
    const { beginAtMs, afterMs } = resume;
    throw new RangeError(`resume must not be out of order: ${beginAtMs} ≤ ${afterMs} ≤ ${startAtMs}`);
  }
  if (!(speed > 0)) throw new RangeError(`speed must be above 0, not ${speed}`);
  if (!Number.isInteger(tokens) || tokens < 4 || tokens > MAX_TOKENS) {
    throw new RangeError(`tokens must be a whole number from 4 to ${MAX_TOKENS}, not ${tokens}`);
  }
  if (!(durationMs >= 0)) throw new RangeError(`durationMs must be at least 0, not ${durationMs}`);
  return settings;
}

async function* paced(
  market: SimulatedMarket,
  settings: Settings,
  signal: AbortSignal,
): AsyncGenerator<MarketEvent> {
  const { clock, speed, startAtMs, beginAtMs, afterMs } = settings;
  const endAtMs = startAtMs + settings.durationMs;
  const began = clock.monotonic();
  const due = () => {
    if (speed === Number.POSITIVE_INFINITY) return endAtMs;
    return Math.min(endAtMs, Math.floor(startAtMs + (clock.monotonic() - began) * speed));
  };
  const piece: MarketEvent[] = [];
  let breathed = began;
  let since = 0;
  for (let at = beginAtMs; !signal.aborted; ) {
    const dueAt = due();
    at = Math.min(dueAt, at + PIECE_MS);
    piece.length = 0;
    market.advanceTo(at, piece);
    for (const event of piece) {
      if (event.at <= afterMs) continue;
      yield event;
      if (signal.aborted) return;
    }
    if (at >= endAtMs) return;
    since += piece.length;
    const isInStep = at >= dueAt;
    const needsBreath = since >= BREATH_AFTER_EVENTS || clock.monotonic() - breathed >= BREATH_AFTER_MS;
    if (!isInStep && !needsBreath) continue;
    const untilNext = (market.nextAtMs - at) / speed;
    const sleepMs = isInStep ? Math.max(MIN_SLEEP_MS, Math.min(MAX_SLEEP_MS, untilNext)) : 0;
    if (!(await slept(clock, sleepMs, signal))) return;
    breathed = clock.monotonic();
    since = 0;
  }
}

/** Sleeps; false when the signal ended it. */
async function slept(clock: Clock, ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await clock.sleep(ms, signal);
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}
