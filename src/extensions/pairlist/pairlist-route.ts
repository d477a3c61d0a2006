import { type Freshness, formatCursor } from "../../base/protocol/index.ts";
import type { HeadLike } from "../../gateway/http/connections/head-like.ts";
import { ENDPOINTS } from "../../gateway/http/endpoints.ts";
import { PAIR_PARAMETERS, queryNames } from "../../gateway/http/parameters.ts";
import type { PreparedRoute } from "../../gateway/http/rest/prepared-routes.ts";
import { represent } from "../../gateway/http/rest/representation.ts";
import type { Pairlist } from "../../gateway/http/rest/responses.ts";
import { channelsOfQuery, checkPlan, listedPairs, readPairQuery, selectPairs } from "./pair-query.ts";

/**
 * Seconds that a client should wait between requests. Bodies are small, and most responses are 304.
 */
const REFRESH_S = 10;

interface PairlistParts {
  readonly head: HeadLike;
  readonly freshness: () => Freshness;
  /** Whether the route has the parameter `at`. */
  readonly hasPast: boolean;
}

/** Adds `GET /api/v1/pairlist`, which freqtrade's RemotePairList reads. */
export function addPairlistRoute(add: (route: PreparedRoute) => void, parts: PairlistParts): void {
  const { head, freshness, hasPast } = parts;
  add({
    path: ENDPOINTS.pairlist.path,
    parameters: [...queryNames(PAIR_PARAMETERS), ...(hasPast ? ["at"] : [])],
    channels: channelsOfQuery,
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
