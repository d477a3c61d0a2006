import { checkpointOf, restoreEngine } from "../../../src/app/data/engine-checkpoints.ts";
import type { MarketEvent } from "../../../src/base/market/index.ts";
import type { Outcome, Snapshot } from "../../../src/base/model/index.ts";
import { type DetectorSettings, TrendEngine } from "../../../src/engine/index.ts";
import type { Episode } from "./slow-outcome.ts";

interface Served {
  readonly outcome: Outcome;
  readonly episode: Episode;
}

/** Returns all versions of all outcomes of an engine that is restored at each cut. */
export function serveOutcomes(
  events: readonly MarketEvent[],
  settings: Partial<DetectorSettings>,
  cuts: readonly number[],
): readonly Served[] {
  const options = { settings };
  let engine = new TrendEngine(options);
  let before: Snapshot["outcomes"] = {};
  const served: Served[] = [];
  const canaries = new Map<string, Map<number, number>>();
  const scores = new Map<string, number>();
  const tokens = new Set(events.flatMap((event) => (event.kind === "trade" ? [event.token] : [])));
  for (const [index, event] of events.entries()) {
    if (cuts.includes(index)) {
      engine = restoreEngine(JSON.parse(JSON.stringify(checkpointOf(engine))), options);
    }
    engine.accept(event);
    if (event.kind !== "clock") continue;
    for (const token of tokens) {
      const since = engine.trendOf("bsc", token)?.canarySinceMs;
      if (typeof since !== "number") continue;
      const ages = canaries.get(token) ?? new Map<number, number>();
      canaries.set(token, ages.set(event.at, event.at - since));
    }
    const { outcomes, flares, explanations } = engine.snapshot();
    for (const { id } of flares.pro) if (!scores.has(id)) scores.set(id, explanations[id]?.score ?? 0);
    for (const { id, token, started_trending_at, finished_trending_at } of flares.finished_trending) {
      const [outcome, cause] = [outcomes[id], explanations[id]?.finish_cause];
      if (!outcome || !cause || outcome === before[id] || sameText(outcome, before[id])) continue;
      const ages = canaries.get(token.address);
      const episode = {
        token: token.address,
        startMs: Date.parse(started_trending_at),
        endMs: Date.parse(finished_trending_at ?? ""),
        cause,
        asOfMs: event.at,
        score: scores.get(id) ?? 0,
        canaryAgeMs: (atMs: number) => ages?.get(atMs) ?? 0,
      };
      served.push({ outcome, episode });
    }
    before = outcomes;
  }
  return served;
}

const sameText = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);
