import { existsSync } from "node:fs";
import { expect } from "vitest";
import { addressOf, createReplayFeed } from "../../src/feed/index.ts";
import { createHistoryReader } from "../../src/history/index.ts";
import { systemClock } from "../../src/lib/time/clock.ts";
import type { EventBody } from "../../src/protocol/index.ts";
import { TrendEngine } from "../../src/trend/index.ts";
import { loadMarket } from "../evaluate/series.ts";
import { type RestFactory, test } from "../http/rest-fixture.ts";
import { MINUTE_MS } from "./flare-records.ts";
import { playIntoHistory } from "./played-history.ts";
import { type RawFlare, RawMarket, type RawPrice, recordByScript } from "./record-script.ts";

const DAY = "examples/data/2017-11-12.csv.gz";
const TEN_DAYS = "../shared/data/exchange-1m/2017-11-04_2017-11-14.csv.gz";

/** The closes of minutes with volume, as raw prices at their end. */
function rawCandles(path: string): RawMarket {
  const { startMs, series } = loadMarket(path);
  const prices = new Map<string, readonly RawPrice[]>();
  for (const { pair, close, volume } of series) {
    const all = Array.from(close, (price, minute) => ({ at: startMs + (minute + 1) * MINUTE_MS, price }));
    const traded = all.filter((_, minute) => (volume[minute] ?? 0) > 0);
    prices.set(addressOf("bsc", pair), traded);
  }
  return new RawMarket(prices, true);
}

/** The flares as the events name them. */
class FlareCollector {
  readonly #scores = new Map<string, number>();
  readonly #flares = new Map<string, RawFlare>();

  get flares(): readonly RawFlare[] {
    return [...this.#flares.values()];
  }

  note(events: readonly EventBody[]): void {
    for (const { name, data } of events) {
      if (name === "flare-started" && data.cause === "detected")
        this.#scores.set(data.flare.id, data.why?.score ?? Number.NaN);
      if (name !== "flare-finished") continue;
      const { id, token, started_trending_at: start, finished_trending_at: end } = data.flare;
      this.#flares.set(id, {
        token: token.address,
        startMs: Date.parse(start),
        endMs: Date.parse(end ?? ""),
        cause: data.cause,
        score: this.#scores.get(id) ?? Number.NaN,
        liquidity: undefined,
        canaryAgeMs: () => Number.NaN,
      });
    }
  }
}

/** Plays candles and compares `/api/v1/record` at its end with the script, for each window. */
async function compare(path: string, makeRest: RestFactory): Promise<number> {
  const feed = createReplayFeed({ path, group: "bsc", speed: Number.POSITIVE_INFINITY, clock: systemClock });
  const collector = new FlareCollector();
  const engine = new TrendEngine({ facts: feed.facts });
  const { store, endMs } = await playIntoHistory(feed, engine, (events) => collector.note(events));
  const rest = await makeRest({ history: createHistoryReader(store) });
  rest.head.observedAtMs = endMs;
  const market = rawCandles(path);
  const toMs = (Math.floor(endMs / MINUTE_MS) - 1) * MINUTE_MS;
  for (const window of ["24h", "7d", "30d"] as const) {
    const { json } = await rest.ask("GET", `/api/v1/record?window=${window}`);
    expect(json).toEqual(recordByScript(market, collector.flares, window, toMs));
  }
  store.close();
  return collector.flares.length;
}

test("the track record of the recorded day, with its control, is what a script computes from the raw candles", async ({
  makeRest,
}) => {
  expect(await compare(DAY, makeRest)).toBeGreaterThan(5);
});

test("the track record of the ten recorded days is what a script computes from the raw candles", async ({
  makeRest,
  skip,
}) => {
  if (!existsSync(TEN_DAYS)) return skip(`${TEN_DAYS} is not here`);
  if (process.env.FLAREWIRE_LONG !== "1") return skip("FLAREWIRE_LONG=1 plays ten days, for a minute");
  expect(await compare(TEN_DAYS, makeRest)).toBeGreaterThan(100);
}, 900_000);
