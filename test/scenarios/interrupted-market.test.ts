import { expect, test } from "vitest";
import { createConfig } from "../../src/config/config.ts";
import { createSimulatedFeed, type Feed, ReplayFeed, type ReplayResume } from "../../src/feed/index.ts";
import { systemClock } from "../../src/lib/time/clock.ts";
import { HOUR_MS, MINUTE_MS } from "../../src/lib/time/time.ts";
import type { MarketEvent } from "../../src/market/index.ts";
import { EngineSource, type Publication, runPoller } from "../../src/source/index.ts";
import { type EngineCheckpoint, TrendEngine } from "../../src/trend/index.ts";
import { IS_SOAK } from "../support/law-runs.ts";
import { pumpedDay } from "../support/pumped-market.ts";

const { file: path, profiles } = createConfig({
  feed: "replay",
  ...(IS_SOAK ? {} : { file: pumpedDay() }),
});

/** A checkpoint is taken this long before the interruption. */
const CHECKPOINT_MS = 10 * MINUTE_MS;

/**
 * Plays a market and notes what is published up to `untilMs`, and the first checkpoint from
 * `checkpointMs` on.
 */
async function play(
  feed: Feed,
  { untilMs, checkpointMs }: { readonly untilMs: number; readonly checkpointMs: number },
  before?: { checkpoint: EngineCheckpoint; last: Publication },
) {
  const options = { facts: feed.facts };
  const engine = before ? TrendEngine.restore(before.checkpoint, options) : new TrendEngine(options);
  let events: AsyncIterator<MarketEvent> | undefined;
  const iterated = {
    ...{ name: feed.name, origin: feed.origin, facts: feed.facts },
    events: (signal: AbortSignal) => {
      const iterator = feed.events(signal)[Symbol.asyncIterator]();
      events = iterator;
      return { [Symbol.asyncIterator]: () => iterator };
    },
  };
  const source = new EngineSource({ feed: iterated, engine, clock: systemClock });
  const stop = new AbortController();
  const published: Publication[] = [];
  let checkpoint: { text: string; afterMs: number } | undefined;
  await runPoller({
    source,
    publish: (publication) => {
      if (!checkpoint && publication.observedAtMs >= checkpointMs)
        checkpoint = { text: JSON.stringify(engine.checkpoint()), afterMs: source.clockAtMs ?? 0 };
      published.push(publication);
      if (publication.observedAtMs >= untilMs) stop.abort();
    },
    ...(before ? { resume: { snapshot: before.last.snapshot, afterMs: before.last.observedAtMs } } : {}),
    clock: systemClock,
    signal: stop.signal,
    onError: (error) => {
      throw error;
    },
  });
  // Closes the recording.
  await events?.return?.();
  return { published, checkpoint };
}

/**
 * Plays the whole in one go, and once more as a process would that continues from the last
 * checkpoint before a moment. What was published up to that moment, and by that process, is the
 * whole.
 */
async function interrupt(
  feedOf: (resume?: ReplayResume) => Feed,
  { stopAtMs, untilMs }: { readonly stopAtMs: number; readonly untilMs: number },
) {
  const brief = (published: readonly Publication[]) =>
    published.flatMap(({ events }) => events.map((event) => JSON.stringify(event)));
  const whole = await play(feedOf(), { untilMs, checkpointMs: stopAtMs - CHECKPOINT_MS });
  const end = whole.published.findIndex(({ observedAtMs }) => observedAtMs >= stopAtMs) + 1;
  const first = whole.published.slice(0, end);
  const last: Publication = JSON.parse(JSON.stringify(first.at(-1)));
  const { text = "", afterMs = 0 } = whole.checkpoint ?? {};
  expect(afterMs).toBeLessThan(last.observedAtMs);
  const resume = { afterMs, catchUpToMs: last.observedAtMs };
  const before = { checkpoint: JSON.parse(text), last };
  const second = await play(feedOf(resume), { untilMs, checkpointMs: untilMs }, before);
  expect(second.published.length).toBeGreaterThan(50);
  expect([...brief(first), ...brief(second.published)]).toEqual(brief(whole.published));
}

test("[L4] a market that was interrupted after its last checkpoint yields the same events as one that was not", async () => {
  const feedOf = (resume?: ReplayResume) =>
    new ReplayFeed({
      path,
      ...(profiles === undefined ? {} : { profilesPath: profiles }),
      speed: Number.POSITIVE_INFINITY,
      clock: systemClock,
      ...(resume ? { resume } : {}),
    });
  // In the one day flares start every 20 minutes, in the other some of them by ten.
  const [stopAt, until] = IS_SOAK ? [8.5, 10] : [2.5, 4];
  const dayMs = Date.UTC(2017, 10, 12);
  await interrupt(feedOf, { stopAtMs: dayMs + stopAt * HOUR_MS, untilMs: dayMs + until * HOUR_MS });
});

test("[L4] so does the simulated market, which is made again up to there, and what happened while it was away comes at once", async () => {
  const beginAtMs = Date.UTC(2026, 0, 5, 9);
  const feedOf = (resume?: ReplayResume) =>
    createSimulatedFeed({
      ...{ seed: 5, tokens: IS_SOAK ? 120 : 40, warmupMs: 0, speed: 2_000, clock: systemClock },
      // Ten minutes pass in which nobody hears of it.
      ...(resume
        ? { startAtMs: resume.catchUpToMs + 10 * MINUTE_MS, resume: { beginAtMs, afterMs: resume.afterMs } }
        : { startAtMs: beginAtMs }),
    });
  const stopAtMs = beginAtMs + 20 * MINUTE_MS;
  await interrupt(feedOf, { stopAtMs, untilMs: stopAtMs + 25 * MINUTE_MS });
});
