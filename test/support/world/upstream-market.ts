import type { Flare, Listing, Snapshot } from "../../../src/base/model/index.ts";
import {
  POLLED_SNAPSHOT,
  SAMPLE_EXPLANATION,
  SAMPLE_FLARE,
  SAMPLE_LISTING,
  SAMPLE_OUTCOME,
} from "./samples.ts";

/** Event time of these markets. Their newest listing is one minute old. */
export const MARKET_AT = "2017-11-12T08:30:00.000Z";

const at = (minutesAgo: number) => new Date(Date.parse(MARKET_AT) - minutesAgo * 60_000).toISOString();
const idOf = (number: number, draw: number) =>
  `00000000-0000-5000-8${String(draw).padStart(3, "0")}-${String(number).padStart(12, "0")}`;
const addressOf = (number: number) => `0x${number.toString(16).padStart(40, "0")}`;

/** Returns a running flare by number. Another `draw` gives the same flare another id. */
export function flareOf(number: number, draw = 0): Flare {
  const token = { ...SAMPLE_FLARE.token, address: addressOf(number) };
  return { ...SAMPLE_FLARE, id: idOf(number, draw), token, started_trending_at: at(number + 1) };
}

const finishedOf = (number: number, draw: number): Flare => ({
  ...flareOf(number, draw),
  finished_trending_at: at(number / 100),
});

const listingOf = (number: number, draw: number): Listing => ({
  ...SAMPLE_LISTING,
  id: idOf(number, draw),
  listed_at: at(1 + number / 100),
  token: { ...SAMPLE_LISTING.token, address: addressOf(number) },
});

export const range = (from: number, to: number) =>
  Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index);

/** Items of a fake upstream, by the numbers of the flares and listings. */
export interface Market {
  readonly running?: readonly number[];
  /** Running flares that the free plan also shows. */
  readonly free?: readonly number[];
  readonly finished?: readonly number[];
  readonly newest?: readonly number[];
  /** A different number gives every item a different id. */
  readonly draw?: number;
}

/** Returns a market with these items, and the charts and leaderboards of the sample. */
export function marketOf({
  running = [],
  free = [],
  finished = [],
  newest = [],
  draw = 0,
}: Market): Snapshot {
  const pro = running.map((number) => flareOf(number, draw));
  const ended = finished.map((number) => finishedOf(number, draw));
  return {
    ...POLLED_SNAPSHOT,
    flares: {
      free: free.map((number) => flareOf(number, draw)),
      pro,
      finished_trending: ended,
    },
    newest: { bsc: newest.map((number) => listingOf(number, draw)) },
    explanations: Object.fromEntries(pro.map(({ id }) => [id, SAMPLE_EXPLANATION])),
    outcomes: Object.fromEntries(ended.map(({ id }) => [id, SAMPLE_OUTCOME])),
  };
}
