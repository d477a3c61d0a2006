import { type EventLoopUtilization, performance } from "node:perf_hooks";
import type { Clock } from "../../base/lib/time/clock.ts";
import { SECOND_MS } from "../../base/lib/time/time.ts";
import type { MarketEvent } from "../../base/market/index.ts";
import type { Feed } from "../../gateway/source/index.ts";
import { createSimulatedMarket, type SimulatedMarket } from "./market/simulated-market.ts";

const DEFAULT_TOKENS = 480;
/** The market is generated and emitted in pieces of this much event time. */
const PIECE_MS = SECOND_MS;
/** While catching up, the feed lets other tasks run after this time or this many events. */
const YIELD_AFTER_MS = 12;
const YIELD_AFTER_EVENTS = 10_000;
/** Longest time for other tasks in a row. */
const MAX_WAIT_MS = 50;
/**
 * Bounds of a sleep: the lower one batches events at high speeds, the upper one limits clock
 * errors.
 */
const MIN_SLEEP_MS = 20;
const MAX_SLEEP_MS = 1_000;

export interface SimulatedFeedOptions {
  /**
   * Default 1. Equal seed, `tokens`, start and warm-up give equal events. 1 and "1" are the same
   * seed.
   */
  readonly seed?: number | string;
  /** Event time, in whole milliseconds, at the start of iteration. The warm-up precedes it. */
  readonly startAtMs: number;
  /**
   * Event time before `startAtMs` to emit at full speed. Default 0: none. Ignored with `resume`.
   */
  readonly warmupMs?: number;
  /** Continues an earlier market seamlessly. Default: a new one starts with the warm-up. */
  readonly resume?: SimulatedResume;
  /** Event time per wall time after the warm-up, above 0. Default 1. Infinity: full speed. */
  readonly speed?: number;
  /** Its monotonic time paces the events. */
  readonly clock: Clock;
  /** Established tokens, at least 4. Default 480. About 24 new ones per hour are listed besides. */
  readonly tokens?: number;
  /** Event time after `startAtMs` at which the feed ends. Default Infinity. */
  readonly durationMs?: number;
}

/**
 * Where a market continues. Regenerating it takes about a tenth of a second per hour of event time.
 */
interface SimulatedResume {
  /** The earlier {@link SimulatedFeed.beginAtMs}. */
  readonly beginAtMs: number;
  /**
   * Events up to the `clock` of this event time are not emitted again. Later ones are emitted at
   * once up to `startAtMs`.
   */
  readonly afterMs: number;
}

interface SimulatedFeed extends Feed {
  /**
   * Event time at which its market starts. With the seed and `tokens`, it determines the market.
   */
  readonly beginAtMs: number;
}

/**
 * Creates the simulated market as a feed. After the warm-up, event time is `startAtMs` plus the
 * speed × the time since iteration began, so it neither drifts nor loses events. Throws RangeError
 * if the times of `resume` are out of order.
 */
export function createSimulatedFeed(options: SimulatedFeedOptions): SimulatedFeed {
  const settings = complete(options);
  const { beginAtMs } = settings;
  let isTaken = false;
  return {
    name: "simulated",
    origin: "simulated",
    facts: { trades: true, liquidity: true, listings: true, profiles: true },
    beginAtMs,
    events(signal) {
      if (isTaken) throw new Error("the simulated feed can be iterated only once");
      isTaken = true;
      const { seed, tokens } = settings;
      const market = createSimulatedMarket({ seed, beginAtMs, tokens });
      return paced(market, settings, signal);
    },
  };
}

type Settings = Required<Omit<SimulatedFeedOptions, "resume" | "warmupMs">> & SimulatedResume;

function complete({
  seed = 1,
  startAtMs,
  warmupMs = 0,
  resume,
  speed = 1,
  clock,
  tokens = DEFAULT_TOKENS,
  durationMs = Number.POSITIVE_INFINITY,
}: SimulatedFeedOptions): Settings {
  if (resume && !(resume.beginAtMs <= resume.afterMs && resume.afterMs <= startAtMs)) {
    const { beginAtMs, afterMs } = resume;
    throw new RangeError(
      `resume is out of order: beginAtMs ${beginAtMs}, afterMs ${afterMs}, startAtMs ${startAtMs}`,
    );
  }
  const fresh = { beginAtMs: startAtMs - warmupMs, afterMs: Number.NEGATIVE_INFINITY };
  return { seed, startAtMs, ...(resume ?? fresh), speed, clock, tokens, durationMs };
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
  let yieldedAt = began;
  let generated = 0;
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
    generated += piece.length;
    const isCaughtUp = at >= dueAt;
    const mustYield = generated >= YIELD_AFTER_EVENTS || clock.monotonic() - yieldedAt >= YIELD_AFTER_MS;
    if (!isCaughtUp && !mustYield) continue;
    const untilNext = (market.nextAtMs - at) / speed;
    const sleepMs = Math.max(MIN_SLEEP_MS, Math.min(MAX_SLEEP_MS, untilNext));
    const pause = isCaughtUp
      ? clock.sleep(sleepMs, signal)
      : giveWay(clock, clock.monotonic() - yieldedAt, signal);
    await pause.catch(() => undefined);
    yieldedAt = clock.monotonic();
    generated = 0;
  }
}

/**
 * Lets other tasks run after `workedMs` of work: until this process has nothing else to do, but at
 * most as long as the work took. After a restart, thousands of clients may connect meanwhile, and
 * the event loop accepts one of them per turn (libuv#3696).
 */
async function giveWay(clock: Clock, workedMs: number, signal: AbortSignal): Promise<void> {
  const before = performance.eventLoopUtilization();
  let since: EventLoopUtilization;
  do {
    await clock.sleep(0, signal);
    since = performance.eventLoopUtilization(before);
  } while (since.idle === 0 && since.active < Math.min(workedMs, MAX_WAIT_MS));
}
