import { expect } from "vitest";
import { withAccept } from "../../../src/app/engine-source.ts";
import { TrackRecord } from "../../../src/base/model/index.ts";
import type { EventBody } from "../../../src/base/protocol/index.ts";
import { TrendEngine } from "../../../src/engine/index.ts";
import { createHistoryReader } from "../../../src/extensions/history/index.ts";
import type { Feed } from "../../../src/gateway/source/feed.ts";
import type { RestFactory } from "../../gateway/http/rest/rest-fixture.ts";
import { MINUTE_MS } from "./flare-records.ts";
import { playIntoHistory } from "./played-history.ts";
import { type RawFlare, type RawMarket, recordByScript } from "./record-script.ts";

/** A flare's canary is read until its outcome is final, this long after the flare's last event. */
const FOLLOWED_MS = 61 * MINUTE_MS;

interface RawSource {
  /** Called with each event of the feed. */
  note(event: Parameters<TrendEngine["accept"]>[0]): void;
  market(): RawMarket;
  liquidityOf(token: string, atMs: number): number | undefined;
}

/** Collects the flares from the events, and when their canaries were on. */
class FlareCollector {
  readonly #engine: TrendEngine;
  readonly #raw: RawSource;
  readonly #scores = new Map<string, number>();
  readonly #flares = new Map<string, RawFlare>();
  readonly #canaries = new Map<string, (readonly [seenMs: number, sinceMs: number | null])[]>();
  readonly #followed = new Map<string, number>();

  constructor(engine: TrendEngine, raw: RawSource) {
    this.#engine = engine;
    this.#raw = raw;
  }

  get flares(): readonly RawFlare[] {
    return [...this.#flares.values()];
  }

  note(events: readonly EventBody[]): void {
    for (const { name, data } of events) {
      if (name !== "flare-started" && name !== "flare-finished") continue;
      if ("group" in data.flare) continue;
      const { id, token, started_trending_at: start, finished_trending_at: end } = data.flare;
      const startMs = Date.parse(start);
      this.#followed.set(token.address, Math.max(startMs, Date.parse(end ?? start)));
      if (name === "flare-started") {
        // Other plans get the event later, with the score of that time.
        if (data.cause === "detected") this.#scores.set(id, data.why?.score ?? Number.NaN);
        continue;
      }
      this.#flares.set(id, {
        token: token.address.toLowerCase(),
        startMs,
        endMs: Date.parse(end ?? ""),
        cause: data.cause,
        score: this.#scores.get(id) ?? Number.NaN,
        liquidity: this.#raw.liquidityOf(token.address, startMs),
        canaryAgeMs: (atMs) => {
          const seen = this.#canaries.get(token.address)?.findLast(([seenMs]) => seenMs <= atMs);
          return seen?.[1] == null ? 0 : atMs - seen[1];
        },
      });
    }
  }

  /** Records the canaries of followed flares as of a whole second. */
  look(atMs: number): void {
    for (const [token, fromMs] of this.#followed) {
      const sinceMs = this.#engine.trendOf("bsc", token)?.canarySinceMs ?? null;
      const seen = this.#canaries.get(token) ?? [];
      this.#canaries.set(token, seen);
      if (seen.length === 0 || seen.at(-1)?.[1] !== sinceMs) seen.push([atMs, sinceMs]);
      const isRunning = this.#engine.trendOf("bsc", token)?.flaringSinceMs != null;
      if (!isRunning && atMs - fromMs > FOLLOWED_MS) this.#followed.delete(token);
    }
  }
}

/** Plays a feed and compares `/api/v1/record` at its end with the script, for each window. */
export async function compareRecords(feed: Feed, raw: RawSource, makeRest: RestFactory): Promise<number> {
  const engine = new TrendEngine({ facts: feed.facts });
  const collector = new FlareCollector(engine, raw);
  const played = withAccept(engine, (event) => {
    raw.note(event);
    engine.accept(event);
    if (event.kind === "clock") collector.look(event.at);
  });
  const { store, endMs } = await playIntoHistory(feed, played, (events) => collector.note(events));
  const rest = await makeRest({ history: createHistoryReader(store) });
  rest.head.observedAtMs = endMs;
  const toMs = (Math.floor(endMs / MINUTE_MS) - 1) * MINUTE_MS;
  const market = raw.market();
  for (const window of ["24h", "7d", "30d"] as const) {
    const { json } = await rest.ask("GET", `/api/v1/record?window=${window}`);
    const { trades, calibration, ...prices } = TrackRecord.parse(json);
    expect(prices).toEqual(recordByScript(market, collector.flares, window, toMs));
    expect((trades?.n ?? 0) + (trades?.unknown ?? 0)).toBe(prices.all.flares);
    expect(sum(calibration?.up_15m ?? [])).toBeLessThanOrEqual(prices.all.flares);
  }
  store.close();
  return collector.flares.length;
}

function sum(rows: readonly { readonly n: number }[]): number {
  return rows.reduce((total, { n }) => total + n, 0);
}
