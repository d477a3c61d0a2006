import type { Channel, Snapshot } from "../../protocol/index.ts";

/** A pair of an exchange. Unknown parts fit every query. */
export interface ListedPair {
  readonly base: string;
  readonly quote?: string | undefined;
  /** In lower case. */
  readonly exchange?: string | undefined;
}

interface Source {
  /** The channel with the same data, which a client needs. */
  readonly channel: Channel;
  /** Returns the list's pairs, the most recent or best ones first. */
  pairsOf(snapshot: Snapshot): readonly ListedPair[];
}

/** freqtrade reads each pair as a regular expression: a name from outside must not act as one. */
const LITERAL = /^[\p{L}\p{N}_-]{1,64}$/u;

/** The lists that a client may ask for. */
export const PAIR_SOURCES = {
  chart: {
    channel: "charts.exchange",
    pairsOf: ({ charts }) =>
      charts.exchange.flatMap(({ token }) => (LITERAL.test(token.symbol) ? [{ base: token.symbol }] : [])),
  },
  any: { channel: "status", pairsOf: () => [{ base: ".*" }] },
} as const satisfies Record<string, Source>;

export type PairSource = keyof typeof PAIR_SOURCES;
