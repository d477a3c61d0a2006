import { expect, test } from "vitest";
import { isoTime } from "../../../src/base/lib/time/iso-time.ts";
import type { TokenDetails } from "../../../src/base/model/index.ts";
import { loadRenderer } from "../../../src/extensions/pages/index.ts";
import { SAMPLE_EXPLANATION, SAMPLE_FLARE, SAMPLE_OUTCOME } from "../../support/world/samples.ts";

const NOW_MS = Date.parse("2017-11-12T08:24:00.000Z");
const minutesAgo = (minutes: number) => isoTime(NOW_MS - minutes * 60_000);

/** A token whose flare ended two minutes ago, 3 minutes after its start. */
const DETAILS: TokenDetails = {
  ...SAMPLE_FLARE,
  ...SAMPLE_FLARE.token,
  group: "bsc",
  price: "0.0175",
  price_at: minutesAgo(0),
  as_of: null,
  warnings: [],
  canary: null,
  chart: null,
  leaderboard: null,
  candles: [3, 2, 1].map((minutes) => ({
    ...{ open_at: minutesAgo(minutes), open: "0.012", high: "0.014", low: "0.011", close: "0.013" },
    ...{ volume: "100", buys: 2, sells: 1 },
  })),
  flares: [
    {
      flare: {
        ...SAMPLE_FLARE,
        started_trending_at: minutesAgo(3),
        finished_trending_at: minutesAgo(2),
      },
      started: SAMPLE_EXPLANATION,
      why: null,
      cause: "faded",
      outcome: { ...SAMPLE_OUTCOME, change_15m: null, change_60m: null },
    },
  ],
};

test("the page of a token says in how many minutes a change will be known, and its chart marks the price above it", async () => {
  const { renderTokenPage } = await loadRenderer();
  const kind = { origin: "live", facts: ["trades", "liquidity"] };
  const page = (nowMs: number) =>
    renderTokenPage({ details: DETAILS, flareId: undefined, nowMs, root: "", market: undefined, kind });
  const later = (text: string) =>
    [...text.matchAll(/<td class="later">(.*?)<\/td>/g)].map(([, cell = ""]) => cell.replace(/<[^>]+>/g, ""));
  const html = page(NOW_MS);
  expect(later(html)).toEqual(["in 57 min", "in 57 min", "3.4"]);
  expect(later(page(NOW_MS + 15 * 60_000))).toEqual(["in 42 min", "in 42 min", "3.4"]);
  expect(html).toContain(">$0.0175<");
  expect(/<text class="now"[^>]*>([^<]*)</.exec(html)?.[1]).toBe("0.0175");
});
