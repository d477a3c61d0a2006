import type { Page } from "playwright-core";
import type { Flare, Snapshot } from "../../src/base/model/index.ts";
import { IS_SOAK } from "../support/law-runs.ts";
import {
  SAMPLE_EXPLANATION,
  SAMPLE_FLARE,
  SAMPLE_OUTCOME,
  SAMPLE_SNAPSHOT,
} from "../support/world/samples.ts";
import { ToldMarket } from "./told-market.ts";

/** The time of {@link FlaresMarket}, more than a day after the sample flares. */
const START_MS = Date.parse("2017-11-20T12:00:30.000Z");
export const at = (minutes: number) => new Date(START_MS + minutes * 60_000).toISOString();
export const clock = (minutes: number) => at(minutes).slice(11, 16);

/** Returns a flare that starts and ends these minutes from now. */
function flareFrom(index: number, from: number, to: number | null): Flare {
  const address = `0x${String(index).padStart(40, "0")}`;
  return {
    ...SAMPLE_FLARE,
    id: `3b241101-e2bb-5255-8caf-${String(index).padStart(12, "0")}`,
    liquidity: `${index * 1_000}`,
    token: { ...SAMPLE_FLARE.token, symbol: `T${index}`, address },
    started_trending_at: at(from),
    finished_trending_at: to === null ? null : at(to),
  };
}

/** Number of running flares. `npm test` has fewer, because each row takes time in every test. */
export const RUNNING = IS_SOAK ? 60 : 24;
export const pro = Array.from({ length: RUNNING }, (_, index) => flareFrom(index + 1, -1 - index / 10, null));
export const ended = Array.from({ length: 10 }, (_, index) =>
  flareFrom(index + 100, -70.5 - index, -40.5 - index),
);
const why = (finish_cause: "canary" | "faded", warnings: string[]) => ({
  ...{ ...SAMPLE_EXPLANATION, finish_cause, warnings },
});
/** Returns a market with the first of these flares. */
export const marketOf = (running: number, past: number): Snapshot => ({
  ...SAMPLE_SNAPSHOT,
  flares: { pro: pro.slice(0, running), free: [], finished_trending: ended.slice(0, past) },
  explanations: Object.fromEntries([
    ...pro.map(({ id }) => [id, SAMPLE_EXPLANATION]),
    ...ended.map(({ id }, index) => [id, index % 2 === 0 ? why("canary", ["honeypot"]) : why("faded", [])]),
  ]),
  outcomes: Object.fromEntries(
    ended.map(({ id }, index) => [
      id,
      { ...SAMPLE_OUTCOME, peak_at: at(-68 - index), ended_by: index % 2 === 0 ? "canary" : "faded" },
    ]),
  ),
});
export const MARKET = marketOf(pro.length, ended.length);

/** Its time stands still, so that no text depends on when a test runs. */
export class FlaresMarket extends ToldMarket {
  override freshness() {
    return { ...super.freshness(), observed_at: at(0) };
  }
}

/** An hour of prices that rise 1 % a minute, for the token whose flare started a minute ago. */
const CLOSED_MS = Math.floor(START_MS / 60_000) * 60_000;
const CANDLES = {
  closed_at: new Date(CLOSED_MS).toISOString(),
  bsc: {
    [pro[0]?.token.address ?? ""]: Array.from({ length: 60 }, (_, minute) => {
      const close = String(Number(SAMPLE_FLARE.token.price) / 1.01 ** (59 - minute));
      const open_at = new Date(CLOSED_MS - (60 - minute) * 60_000).toISOString();
      return { open_at, open: close, high: close, low: close, close, volume: "10", buys: 1, sells: 0 };
    }),
  },
};

export const showCandles = (page: Page) =>
  page.route("**/api/v1/candles", (route) => route.fulfill({ json: CANDLES }));
export const symbols = (page: Page) => page.locator(".flares tbody th a").allTextContents();
