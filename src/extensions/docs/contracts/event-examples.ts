import type { EventMessage } from "../../../base/protocol/index.ts";
import { EXCHANGE_FLARE, FLARE_STARTED, MARKET } from "../../../gateway/http/index.ts";

const { flare } = FLARE_STARTED.data;
const { why, outcome, listing, quick, candle, ended } = MARKET;
const SURGE = { number: 1, at: "2017-11-12T08:29:00.000Z", price: "0.0139", score: 6.54 };
const SURGED_FIELDS = { recent_price_change: 26 };

function placed(seq: number, prev: number) {
  const cursor = `13ac274a9f68b758-${seq}`;
  return {
    type: "event",
    cursor,
    seq,
    prev,
    emitted_at: MARKET.emittedAt,
    observed_at: MARKET.observedAt,
  } as const;
}

export const EVENT_EXAMPLES: { readonly [N in EventMessage["name"]]: Extract<EventMessage, { name: N }> } = {
  "flare-started": FLARE_STARTED,
  "flare-updated": {
    ...placed(103, 102),
    name: "flare-updated",
    channel: "flares.pro",
    data: { op: "set", id: flare.id, set: { recent_price_change: 17 } },
  },
  "flare-surged": {
    ...placed(120, 103),
    observed_at: SURGE.at,
    name: "flare-surged",
    channel: "flares.pro",
    data: {
      op: "set",
      id: flare.id,
      set: SURGED_FIELDS,
      flare: { ...flare, ...SURGED_FIELDS },
      why: { ...why, at: SURGE.at, score: SURGE.score, surge: SURGE },
      surge: SURGE,
    },
  },
  "flare-finished": {
    ...placed(140, 103),
    name: "flare-finished",
    channel: "flares.pro",
    data: {
      op: "remove",
      id: flare.id,
      flare: ended.flare,
      why: { ...why, finish_cause: "faded" },
      cause: "faded",
      outcome,
    },
  },
  "flare-outcome": {
    ...placed(260, 140),
    name: "flare-outcome",
    channel: "flares.finished",
    data: {
      op: "set",
      id: flare.id,
      set: {},
      outcome: { ...outcome, change_60m: -1.6, relative_change_60m: -1.4, final: true },
    },
  },
  "flare-withdrawn": {
    ...placed(130, 103),
    name: "flare-withdrawn",
    channel: "flares.free",
    data: { op: "remove", id: flare.id, cause: "canary" },
  },
  "flare-expired": {
    ...placed(900, 140),
    name: "flare-expired",
    channel: "flares.finished",
    data: { op: "remove", id: flare.id },
  },
  "token-listed": {
    ...placed(104, 103),
    name: "token-listed",
    channel: "newest.bsc",
    data: { op: "insert", index: 0, listing },
  },
  "token-updated": {
    ...placed(105, 104),
    name: "token-updated",
    channel: "newest.bsc",
    data: { op: "set", id: listing.id, set: { liquidity: "48700" } },
  },
  "token-unlisted": {
    ...placed(106, 105),
    name: "token-unlisted",
    channel: "newest.bsc",
    data: { op: "remove", id: listing.id },
  },
  "chart-updated": {
    ...placed(107, 106),
    name: "chart-updated",
    channel: "charts.matic",
    data: { group: "matic", changes: [{ op: "insert", index: 0, item: quick }] },
  },
  "leaderboard-updated": {
    ...placed(108, 107),
    name: "leaderboard-updated",
    channel: "leaderboards.matic",
    data: { group: "matic", changes: [{ op: "set", id: quick.token.address, set: { time_trended: 480 } }] },
  },
  "candles-closed": {
    ...placed(110, 109),
    name: "candles-closed",
    channel: "candles",
    data: {
      group: "bsc",
      closed_at: "2017-11-12T08:24:00.000Z",
      tokens: [{ address: MARKET.facts.token.address, from: candle.open_at, candles: [candle] }],
      gone: [],
    },
  },
  "source-status": {
    ...placed(109, 108),
    name: "source-status",
    channel: "status",
    data: { state: "stale", reason: "no answer for 15 s" },
  },
};

/** A flare on an exchange starts. */
export const EXCHANGE_STARTED: Extract<EventMessage, { readonly name: "flare-started" }> = {
  ...FLARE_STARTED,
  channel: "flares.exchange.pro",
  data: { ...FLARE_STARTED.data, flare: EXCHANGE_FLARE },
};
