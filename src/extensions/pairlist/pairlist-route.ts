import { z } from "zod";
import { type Freshness, formatCursor, SourceState } from "../../base/protocol/index.ts";
import { AT, type HeadLike, type PreparedRoute, represent, resource } from "../../gateway/http/index.ts";
import {
  channelsOfQuery,
  checkPlan,
  listedPairs,
  PAIR_QUERY,
  readPairQuery,
  selectPairs,
} from "./pair-query.ts";

/**
 * Seconds that a client should wait between requests. Bodies are small, and most responses are 304.
 */
const REFRESH_S = 10;

const Pairlist = z
  .object({
    pairs: z
      .array(z.string())
      .describe(
        "Pairs in ccxt's unified form, `BTC/USDT`. Empty if there are none, and while `state` is not `live`.",
      ),
    refresh_period: z.int().describe("Seconds between two requests; freqtrade waits at least as long."),
    state: SourceState.describe("State of the data source. A past list always has `live`."),
  })
  .describe("`GET /api/v1/pairlist`: the pairs that a trading bot may open now.")
  .meta({ id: "Pairlist" });
type Pairlist = z.infer<typeof Pairlist>;

export const PAIRLIST_ROUTE = resource({
  name: "pairlist",
  path: "/api/v1/pairlist",
  summary: "Pairs that a trading bot may open now, in the form that freqtrade's RemotePairList reads.",
  schema: Pairlist,
  example: { pairs: ["BTC/USDT", "SOL/USDT"], refresh_period: REFRESH_S, state: "live" } satisfies Pairlist,
  query: { ...PAIR_QUERY, at: AT },
  channels: channelsOfQuery,
});

interface PairlistDependencies {
  readonly head: HeadLike;
  readonly freshness: () => Freshness;
}

/** Adds `GET /api/v1/pairlist`, which freqtrade's RemotePairList reads. */
export function addPairlistRoute(
  add: (route: PreparedRoute) => void,
  { head, freshness }: PairlistDependencies,
): void {
  add({
    contract: PAIRLIST_ROUTE,
    now: () => `${formatCursor(head.cursor)} ${freshness().state}`,
    read: async ({ query }, { plan }, then) => {
      const asked = readPairQuery(query);
      checkPlan(asked, plan);
      return (shown) => {
        const state = then ? "live" : freshness().state;
        const body: Pairlist = {
          pairs: [...selectPairs(listedPairs(asked.list, shown, { state }), asked)],
          refresh_period: REFRESH_S,
          state,
        };
        return represent(JSON.stringify(body));
      };
    },
  });
}
