import type { ExchangeFlare } from "../../base/model/index.ts";
import type { Channel, Snapshot } from "../../base/protocol/index.ts";

/** A pair of an exchange. Unknown parts match every query. */
export interface ListedPair {
  readonly base: string;
  readonly quote?: string | undefined;
  /** In lower case. */
  readonly exchange?: string | undefined;
}

interface Source {
  /** The channel with the same data. A client needs access to it. */
  readonly channel: Channel;
  /** Returns the list's pairs, the most recent or best ones first. */
  pairsOf(snapshot: Snapshot): readonly ListedPair[];
}

/** freqtrade reads each pair as a regular expression, so only literal names may pass. */
const LITERAL = /^[\p{L}\p{N}_-]{1,64}$/u;

/** The lists that a client may request. */
export const PAIR_SOURCES = {
  pro: {
    channel: "flares.exchange.pro",
    pairsOf: (snapshot) => snapshot["flares.exchange"].pro.flatMap(pairOf),
  },
  free: {
    channel: "flares.exchange.free",
    pairsOf: (snapshot) => snapshot["flares.exchange"].free.flatMap(pairOf),
  },
  chart: {
    channel: "charts.exchange",
    pairsOf: ({ charts }) => charts.exchange.flatMap(({ token }) => literal({ base: token.symbol })),
  },
  any: { channel: "status", pairsOf: () => [{ base: ".*" }] },
} as const satisfies Record<string, Source>;

export type PairSource = keyof typeof PAIR_SOURCES;

/** Returns a flare's pair. Some feeds, such as recordings, name no quote currency or exchange. */
function pairOf({ pair, exchange, token }: ExchangeFlare): readonly ListedPair[] {
  const [base = token.symbol, quote] = pair?.split("/") ?? [];
  return literal({ base, quote, exchange: exchange?.toLowerCase() });
}

function literal(listed: ListedPair): readonly ListedPair[] {
  const { base, quote = "USDT" } = listed;
  return LITERAL.test(base) && LITERAL.test(quote) ? [listed] : [];
}
