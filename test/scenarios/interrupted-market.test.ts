import { expect, test } from "vitest";
import { createConfig } from "../../src/config.ts";
import { createReplayFeed, type ReplayResume } from "../../src/feed/index.ts";
import { systemClock } from "../../src/lib/clock.ts";
import type { MarketEvent } from "../../src/market/index.ts";
import { createEngineSource, type Publication, runPoller } from "../../src/source/index.ts";
import { type EngineCheckpoint, TrendEngine } from "../../src/trend/index.ts";

const { file: path, profiles } = createConfig({ feed: "replay" });

/** Plays the shipped day at full speed and notes what is published, until `stopAt` says so. */
async function play(
  stopAt: (publication: Publication) => boolean,
  before?: { checkpoint: EngineCheckpoint; resume: ReplayResume; last: Publication },
) {
  const feed = createReplayFeed({
    path,
    ...(profiles === undefined ? {} : { profilesPath: profiles }),
    speed: Number.POSITIVE_INFINITY,
    clock: systemClock,
    ...(before ? { resume: before.resume } : {}),
  });
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
  const source = createEngineSource({ feed: iterated, engine, clock: systemClock });
  const stop = new AbortController();
  const published: Publication[] = [];
  const checkpoints: { text: string; afterMs: number }[] = [];
  await runPoller({
    source,
    publish: (publication) => {
      if (published.length % 50 === 0)
        checkpoints.push({ text: JSON.stringify(engine.checkpoint()), afterMs: source.clockAtMs ?? 0 });
      published.push(publication);
      if (stopAt(publication)) stop.abort();
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
  return { published, checkpoint: checkpoints.at(-1) };
}

test("[L4] a market that was interrupted behind its last checkpoint tells the same events as one that was not", async () => {
  const until = Date.UTC(2017, 10, 12, 10);
  const brief = (published: readonly Publication[]) =>
    published.flatMap(({ events }) => events.map((event) => JSON.stringify(event)));
  const whole = await play(({ observedAtMs }) => observedAtMs >= until);
  const first = await play(({ observedAtMs }) => observedAtMs >= Date.UTC(2017, 10, 12, 8, 30));
  const last: Publication = JSON.parse(JSON.stringify(first.published.at(-1)));
  const { text = "", afterMs = 0 } = first.checkpoint ?? {};
  expect(afterMs).toBeLessThan(last.observedAtMs);
  const second = await play(({ observedAtMs }) => observedAtMs >= until, {
    checkpoint: JSON.parse(text),
    resume: { afterMs, catchUpToMs: last.observedAtMs },
    last,
  });
  expect(second.published.length).toBeGreaterThan(50);
  expect([...brief(first.published), ...brief(second.published)]).toEqual(brief(whole.published));
});
