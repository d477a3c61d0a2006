import { systemClock } from "../../../src/base/lib/time/clock.ts";
import type { Outcome } from "../../../src/base/model/index.ts";
import { type DetectorSettings, type FlareStart, TrendEngine } from "../../../src/engine/index.ts";
import { ReplayFeed } from "../../../src/feeds/replay/index.ts";

/** A flare's start, and its final outcome. */
export interface Ended {
  readonly start: FlareStart;
  readonly outcome: Outcome;
}

/** Plays a recording through the engine, and returns the flares that ended, oldest end first. */
export async function collectFlares(
  path: string,
  settings: Partial<DetectorSettings> = {},
): Promise<readonly Ended[]> {
  const feed = new ReplayFeed({ path, speed: Number.POSITIVE_INFINITY, clock: systemClock });
  const ended: Ended[] = [];
  const book = {
    odds: () => ({}),
    note: (start: FlareStart, outcome: Outcome) => void ended.push({ start, outcome }),
    state: undefined,
  };
  const engine = new TrendEngine({ facts: feed.facts, settings, openOdds: () => book });
  for await (const event of feed.events(new AbortController().signal)) engine.accept(event);
  return ended;
}
