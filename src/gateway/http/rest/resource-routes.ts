import { GROUPS, type Group, isAdditional, OTHER_GROUPS } from "../../../base/model/index.ts";
import { flarePatternOf, type Plan } from "../../../base/protocol/index.ts";
import { readGroup } from "../../../extensions/history/http/history-query.ts";
import type { HeadLike } from "../connections/head-like.ts";
import { ENDPOINTS } from "../endpoints.ts";
import { AT_PARAMETER, GROUP_PARAMETER, queryNames, RANKING_PARAMETERS } from "../parameters.ts";
import type { PreparedRoute } from "./prepared-routes.ts";
import type { Representation } from "./representation.ts";
import { ResourceBodies } from "./resource-bodies.ts";

/** Adds the four resources, the candles and the snapshot. `hasPast`: with the parameter `at`. */
export function addResourceRoutes(
  add: (route: PreparedRoute) => void,
  head: HeadLike,
  hasPast: boolean,
): void {
  const bodies = new ResourceBodies(head);
  const withPast = hasPast ? [AT_PARAMETER.name] : [];
  const addResource = (
    path: string,
    bodyOf: BodyOf,
    channels?: PreparedRoute["channels"],
    others: readonly string[] = [],
  ) =>
    add({
      ...{ path, parameters: [...withPast, ...others], channels },
      live: (plan, query) => bodyOf(bodies, plan, groupIn(query)),
      now: () => undefined,
      read: async ({ query }, { plan }, then) => {
        const of = (path === ENDPOINTS.candles.path ? await then?.withCandles() : then?.bodies) ?? bodies;
        return () => bodyOf(of, plan, groupIn(query));
      },
    });
  addResource(ENDPOINTS.newest.path, (of, plan) => of.resource("newest", plan), ["newest.*"]);
  for (const name of ["charts", "leaderboards"] as const)
    addResource(
      ENDPOINTS[name].path,
      (of, plan, group) => of.resource(name, plan, group),
      (query) => [`${name}.*`, ...additionalIn(query, name)],
      queryNames(RANKING_PARAMETERS),
    );
  addResource(
    ENDPOINTS.flares.path,
    (of, plan, group) => of.resource("flares", plan, group),
    flarePatternsIn,
    [GROUP_PARAMETER.name],
  );
  addResource(ENDPOINTS.candles.path, (of, plan) => of.candles(plan), ["candles"]);
  addResource(
    ENDPOINTS.snapshot.path,
    (of, plan, group) => of.snapshot(plan, group),
    (query) => [
      ...["*", "candles", ...flarePatternsIn(query)],
      ...additionalIn(query, "charts", "leaderboards"),
    ],
    [GROUP_PARAMETER.name],
  );
}

/** Returns these resources' channels of the additional group that a query names. */
function additionalIn(query: unknown, ...resources: readonly string[]): readonly string[] {
  const { group } = Object(query) as { readonly group?: unknown };
  const named = GROUPS.filter((name) => name === group && isAdditional(name));
  return named.flatMap((name) => resources.map((resource) => `${resource}.${name}`));
}

/** Reads the parameter `group`. Throws `invalid-parameter`. */
function groupIn(query: unknown): Group | undefined {
  const { group } = Object(query) as { readonly group?: unknown };
  return readGroup(group);
}

/**
 * Returns the pattern of the channels with the flares of a group: the field `group` of a query, of
 * a path's parameters or of a flare. Default: BSC.
 */
export function flarePatternsIn(query: unknown): readonly string[] {
  const { group } = Object(query) as { readonly group?: unknown };
  return [flarePatternOf(OTHER_GROUPS.find((name) => name === group) ?? "bsc")];
}

type BodyOf = (of: ResourceBodies, plan: Plan | undefined, group?: Group) => Representation;
