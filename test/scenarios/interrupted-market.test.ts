import { expect, test } from "vitest";
import { createConfig } from "../../src/app/config/config.ts";
import { checkpointOf, type EngineCheckpoint, restoreEngine } from "../../src/app/data/engine-checkpoints.ts";
import { EngineSource } from "../../src/app/engine-source.ts";
import { systemClock } from "../../src/base/lib/time/clock.ts";
import { HOUR_MS, MINUTE_MS } from "../../src/base/lib/time/time.ts";
import type { MarketEvent } from "../../src/base/market/index.ts";
import { TrendEngine } from "../../src/engine/index.ts";
import { ReplayFeed, type ReplayResume } from "../../src/feeds/replay/replay-feed.ts";
import { createSimulatedFeed } from "../../src/feeds/simulated/simulated-feed.ts";
import type { Feed } from "../../src/gateway/source/feed.ts";
import { type Publication, runPoller } from "../../src/gateway/source/index.ts";
import { IS_SOAK } from "../support/law-runs.ts";
import { pumpedDay } from "../support/world/pumped-market.ts";

const { file: path, profiles } = createConfig({
  feed: "replay",
  ...(IS_SOAK ? {} : { file: pumpedDay() }),
});

/** Time between the checkpoint and the interruption. */
const CHECKPOINT_MS = 10 * MINUTE_MS;

/**
 * Plays a market. Returns the publications up to `untilMs` and the first checkpoint from
 * `checkpointMs` on.
 */
async function play(
  feed: Feed,
  { untilMs, checkpointMs }: { readonly untilMs: number; readonly checkpointMs: number },
  before?: { checkpoint: EngineCheckpoint; last: Publication },
) {
  const options = { facts: feed.facts };
  const engine = before ? restoreEngine(before.checkpoint, options) : new TrendEngine(options);
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
        checkpoint = { text: JSON.stringify(checkpointOf(engine)), afterMs: source.clockAtMs ?? 0 };
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
  // Closes the file of the recording.
  await events?.return?.();
  return { published, checkpoint };
}

/**
 * Plays a market without interruption, and again as a process that resumes from the last checkpoint
 * before `stopAtMs`. Expects the same events from both.
 */
async function interrupt(
  feedOf: (resume?: ReplayResume) => Feed,
  { stopAtMs, untilMs }: { readonly stopAtMs: number; readonly untilMs: number },
) {
  const textsOf = (published: readonly Publication[]) =>
    published.flatMap(({ events }) => events.map((event) => JSON.stringify(event)));
  const uninterrupted = await play(feedOf(), { untilMs, checkpointMs: stopAtMs - CHECKPOINT_MS });
  const end = uninterrupted.published.findIndex(({ observedAtMs }) => observedAtMs >= stopAtMs) + 1;
  const first = uninterrupted.published.slice(0, end);
  const last: Publication = JSON.parse(JSON.stringify(first.at(-1)));
  const { text = "", afterMs = 0 } = uninterrupted.checkpoint ?? {};
  expect(afterMs).toBeLessThan(last.observedAtMs);
  const resume = { afterMs, catchUpToMs: last.observedAtMs };
  const before = { checkpoint: JSON.parse(text), last };
  const second = await play(feedOf(resume), { untilMs, checkpointMs: untilMs }, before);
  expect(second.published.length).toBeGreaterThan(50);
  expect([...textsOf(first), ...textsOf(second.published)]).toEqual(textsOf(uninterrupted.published));
}

test("[L4] a recorded market that is interrupted after its last checkpoint has the same events as one that is not", async () => {
  const feedOf = (resume?: ReplayResume) =>
    new ReplayFeed({
      path,
      ...(profiles === undefined ? {} : { profilesPath: profiles }),
      speed: Number.POSITIVE_INFINITY,
      clock: systemClock,
      ...(resume ? { resume } : {}),
    });
  // The pumped day has a flare every 20 minutes; the recorded day has some by ten o'clock.
  const [stopAt, until] = IS_SOAK ? [8.5, 10] : [2.5, 4];
  const dayMs = Date.UTC(2017, 10, 12);
  await interrupt(feedOf, { stopAtMs: dayMs + stopAt * HOUR_MS, untilMs: dayMs + until * HOUR_MS });
});

test("[L4] a simulated market that is interrupted has the same events: it is generated again, and the events of the outage follow at once", async () => {
  const beginAtMs = Date.UTC(2026, 0, 5, 9);
  const feedOf = (resume?: ReplayResume) =>
    createSimulatedFeed({
      ...{ seed: 5, tokens: IS_SOAK ? 120 : 40, warmupMs: 0, speed: 2_000, clock: systemClock },
      // The process is down for ten minutes.
      ...(resume
        ? { startAtMs: resume.catchUpToMs + 10 * MINUTE_MS, resume: { beginAtMs, afterMs: resume.afterMs } }
        : { startAtMs: beginAtMs }),
    });
  const stopAtMs = beginAtMs + 20 * MINUTE_MS;
  await interrupt(feedOf, { stopAtMs, untilMs: stopAtMs + 25 * MINUTE_MS });
});
