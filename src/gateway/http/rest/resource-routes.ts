import {
  AnyFlares,
  Candles,
  Charts,
  GROUPS,
  Group,
  groupSuggestion,
  isAdditional,
  Leaderboards,
  Newest,
  OTHER_GROUPS,
} from "../../../base/model/index.ts";
import { flarePatternOf, type Plan } from "../../../base/protocol/index.ts";
import type { HeadLike } from "../../hub/index.ts";
import { EXCHANGE_FLARES, MARKET } from "../contract/example-market.ts";
import { type ParameterSet, readParameter } from "../contract/parameters.ts";
import { SNAPSHOT_PATH } from "../contract/paths.ts";
import { AT, GROUP, resource } from "../contract/resource.ts";
import type { RouteContract } from "../contract/route-contract.ts";
import type { PreparedRoute, RouteQuery } from "./prepared-routes.ts";
import type { Representation } from "./representation.ts";
import { ResourceBodies } from "./resource-bodies.ts";
import { SnapshotResponse } from "./responses.ts";

const { flares, newest, charts, leaderboards, candles, explanations } = MARKET;

const RANKING_QUERY: ParameterSet = {
  group: {
    schema: Group,
    description: "An additional group whose lists are served too. Default: none.",
    example: "solana",
    hint: groupSuggestion,
  },
};

/** The current state of the market, by name. */
export const RESOURCE_ROUTES = {
  flares: resource({
    name: "flares",
    path: "/api/v1/flares",
    summary: "Tokens that are flaring, and those that recently were.",
    schema: AnyFlares,
    examples: { bsc: flares, exchange: EXCHANGE_FLARES },
    query: { at: AT, group: GROUP },
    channels: flarePatternsIn,
  }),
  newest: resource({
    name: "newest",
    path: "/api/v1/newest",
    summary: "BSC tokens listed within the last 15 minutes.",
    schema: Newest,
    example: newest,
    query: { at: AT },
    channels: ["newest.*"],
  }),
  charts: resource({
    name: "charts",
    path: "/api/v1/charts",
    summary: "The ten tokens of each group with the best price change.",
    schema: Charts,
    example: charts,
    query: { at: AT, ...RANKING_QUERY },
    channels: (query) => ["charts.*", ...additionalIn(query, "charts")],
  }),
  leaderboards: resource({
    name: "leaderboards",
    path: "/api/v1/leaderboards",
    summary: "The tokens of each group that were in the chart longest in the past 6 hours.",
    schema: Leaderboards,
    example: leaderboards,
    query: { at: AT, ...RANKING_QUERY },
    channels: (query) => ["leaderboards.*", ...additionalIn(query, "leaderboards")],
  }),
  candles: resource({
    name: "candles",
    path: "/api/v1/candles",
    summary: "One-minute candles of the past hour for each token that is flaring.",
    schema: Candles,
    example: candles,
    query: { at: AT },
    channels: ["candles"],
  }),
  snapshot: resource({
    name: "snapshot",
    path: SNAPSHOT_PATH,
    summary: "All of the above except the candles, at one instant, with a cursor to continue from.",
    schema: SnapshotResponse,
    example: {
      cursor: MARKET.cursor,
      observed_at: MARKET.observedAt,
      flares,
      newest,
      charts,
      leaderboards,
      explanations,
      outcomes: {},
    } satisfies Record<keyof SnapshotResponse, unknown>,
    query: { at: AT, group: GROUP },
    channels: (query) => [
      ...["*", "candles", ...flarePatternsIn(query)],
      ...additionalIn(query, "charts", "leaderboards"),
    ],
  }),
} as const;

/** Adds the four resources, the candles and the snapshot. */
export function addResourceRoutes(add: (route: PreparedRoute) => void, head: HeadLike): void {
  const bodies = new ResourceBodies(head);
  const addResource = (contract: RouteContract, bodyOf: BodyOf) =>
    add({
      contract,
      live: (plan, query) => bodyOf(bodies, plan, query),
      now: () => undefined,
      read: async ({ query }, { plan }, then) => {
        const of =
          (contract === RESOURCE_ROUTES.candles ? await then?.withCandles() : then?.bodies) ?? bodies;
        return () => bodyOf(of, plan, Object(query));
      },
    });
  addResource(RESOURCE_ROUTES.flares, (of, plan, query) => of.resource("flares", plan, groupIn(query)));
  addResource(RESOURCE_ROUTES.newest, (of, plan) => of.resource("newest", plan));
  for (const name of ["charts", "leaderboards"] as const)
    addResource(RESOURCE_ROUTES[name], (of, plan, query) => of.resource(name, plan, groupIn(query)));
  addResource(RESOURCE_ROUTES.candles, (of, plan) => of.candles(plan));
  addResource(RESOURCE_ROUTES.snapshot, (of, plan, query) => of.snapshot(plan, groupIn(query)));
}

/** Returns these resources' channels of the additional group that a query names. */
function additionalIn(query: unknown, ...resources: readonly string[]): readonly string[] {
  const { group } = Object(query) as { readonly group?: unknown };
  const named = GROUPS.filter((name) => name === group && isAdditional(name));
  return named.flatMap((name) => resources.map((resource) => `${resource}.${name}`));
}

/** Reads the parameter `group`; `undefined` without a query. Throws `invalid-parameter`. */
function groupIn(query: RouteQuery | undefined): Group | undefined {
  return query && readParameter("group", GROUP, query.group);
}

/**
 * Returns the pattern of the channels with the flares of a group: the field `group` of a query, of
 * a path's parameters or of a flare. Default: BSC.
 */
export function flarePatternsIn(query: unknown): readonly string[] {
  const { group } = Object(query) as { readonly group?: unknown };
  return [flarePatternOf(OTHER_GROUPS.find((name) => name === group) ?? "bsc")];
}

type BodyOf = (of: ResourceBodies, plan: Plan | undefined, query?: RouteQuery) => Representation;
