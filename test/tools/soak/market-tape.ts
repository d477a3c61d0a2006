import { EngineSource } from "../../../src/app/engine-source.ts";
import { systemClock } from "../../../src/base/lib/time/clock.ts";
import { HOUR_MS, SECOND_MS } from "../../../src/base/lib/time/time.ts";
import type { Freshness, SourceInfo } from "../../../src/base/protocol/index.ts";
import { TrendEngine } from "../../../src/engine/index.ts";
import { createSimulatedFeed } from "../../../src/feeds/simulated/simulated-feed.ts";
import type { Poll, SnapshotSource } from "../../../src/gateway/source/index.ts";

/** Event time between two recorded states of the market. */
export const LOOK_MS = 30 * SECOND_MS;

const tapes = new Map<string, Promise<readonly Poll[]>>();

/** Returns the states of a simulated market every 30 seconds. Each market is generated once. */
export function tapeOf(seed: number, hours: number): Promise<readonly Poll[]> {
  const key = `${seed} ${hours}`;
  const known = tapes.get(key) ?? record(seed, hours);
  tapes.set(key, known);
  return known;
}

async function record(seed: number, hours: number): Promise<readonly Poll[]> {
  const warmupMs = 2 * HOUR_MS;
  const feed = createSimulatedFeed({
    seed,
    startAtMs: Date.UTC(2026, 0, 2),
    warmupMs,
    durationMs: hours * HOUR_MS,
    speed: Number.POSITIVE_INFINITY,
    clock: systemClock,
    tokens: 24,
  });
  const engine = new TrendEngine({ facts: feed.facts });
  const source = new EngineSource({ feed, engine, clock: systemClock, warmupMs });
  const { signal } = new AbortController();
  const polls: Poll[] = [];
  for (let poll = await source.poll(signal); poll; poll = await source.poll(signal)) {
    const last = polls.at(-1);
    if (!last || poll.observedAtMs - last.observedAtMs >= LOOK_MS) polls.push(poll);
  }
  return polls;
}

/** A source that returns the polls that the test passes to {@link hand}. */
export class HandedSource implements SnapshotSource {
  readonly info: SourceInfo = {
    name: "tape",
    origin: "simulated",
    facts: { trades: true, liquidity: true, listings: true, profiles: true },
  };
  state: Freshness["state"] = "live";
  #waiting = Promise.withResolvers<Poll>();

  /** Resolves the pending poll, or the next one. Only one poll may be passed at a time. */
  hand(poll: Poll): void {
    this.#waiting.resolve(poll);
  }

  async poll(signal: AbortSignal): Promise<Poll> {
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
    const poll = await Promise.race([this.#waiting.promise, aborted]);
    this.#waiting = Promise.withResolvers();
    return poll;
  }

  freshness(): Freshness {
    return { state: this.state, reason: "", observed_at: null, last_success_at: null, data_age_ms: 0 };
  }
}
