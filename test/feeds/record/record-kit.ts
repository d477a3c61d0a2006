import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test as base } from "vitest";
import { eventLine } from "../../../src/app/cli/replay.ts";
import { EngineSource } from "../../../src/app/engine-source.ts";
import type { MarketEvent } from "../../../src/base/market/index.ts";
import { EMPTY_SNAPSHOT, type Snapshot } from "../../../src/base/model/index.ts";
import { TrendEngine } from "../../../src/engine/index.ts";
import { recordFeed } from "../../../src/feeds/record/record-feed.ts";
import { Recorder } from "../../../src/feeds/record/recorder.ts";
import { createSimulatedFeed } from "../../../src/feeds/simulated/simulated-feed.ts";
import type { Feed } from "../../../src/gateway/source/feed.ts";
import { toEvents } from "../../../src/gateway/source/index.ts";
import { LeapingClock } from "../replay/replay-kit.ts";

export const START = Date.UTC(2026, 0, 1);

/** Provides a temporary directory, removed after the test. */
export const test = base.extend<{ directory: string }>({
  // biome-ignore lint/correctness/noEmptyPattern: the runner demands a pattern
  directory: async ({}, use) => {
    const directory = mkdtempSync(join(tmpdir(), "flarewire-record-"));
    await use(directory);
    rmSync(directory, { recursive: true });
  },
});

/** Returns a feed of the first minutes of the simulated market, at full speed. */
export function simulated(minutes: number): Feed {
  return createSimulatedFeed({
    startAtMs: START,
    warmupMs: 0,
    durationMs: minutes * 60_000,
    speed: Number.POSITIVE_INFINITY,
    tokens: 100,
    clock: new LeapingClock(),
  });
}

/** Returns a feed with exactly these events. */
export function scripted(events: readonly MarketEvent[]): Feed {
  return {
    name: "scripted",
    origin: "live",
    facts: { trades: true, liquidity: true, listings: true, profiles: true },
    async *events() {
      yield* events;
    },
  };
}

export async function drain(feed: Feed): Promise<readonly MarketEvent[]> {
  const events: MarketEvent[] = [];
  for await (const event of feed.events(new AbortController().signal)) events.push(event);
  return events;
}

/**
 * Runs a feed through an engine, up to this event time. Returns the lines of `flarewire replay` and
 * the last state.
 */
export async function play(
  feed: Feed,
  untilMs = Number.POSITIVE_INFINITY,
): Promise<{ readonly lines: readonly string[]; readonly state: string }> {
  const engine = new TrendEngine({ facts: feed.facts });
  const source = new EngineSource({ feed, engine, clock: new LeapingClock() });
  const over = new AbortController();
  const { signal } = over;
  const lines: string[] = [];
  let snapshot: Snapshot = EMPTY_SNAPSHOT;
  for (let poll = await source.poll(signal); poll; poll = await source.poll(signal)) {
    if (poll.observedAtMs > untilMs) break;
    for (const event of toEvents(snapshot, poll.snapshot, poll.observedAtMs))
      lines.push(eventLine(lines.length + 1, event));
    snapshot = poll.snapshot;
  }
  over.abort();
  return { lines, state: JSON.stringify(snapshot) };
}

/** Returns the feed with a recorder that writes below `directory`. */
export function recording(feed: Feed, directory: string, partBytes?: number) {
  const recorder = new Recorder({
    directory,
    feed,
    clock: new LeapingClock(),
    memberChars: 20_000,
    ...(partBytes === undefined ? {} : { partBytes }),
  });
  const failures: Error[] = [];
  return { recorder, failures, feed: recordFeed(feed, recorder, (error) => failures.push(error)) };
}
