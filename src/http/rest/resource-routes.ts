import type { Plan } from "../../protocol/index.ts";
import type { HeadLike } from "../connections/head-like.ts";
import { AT_PARAMETER } from "../contracts/parameters.ts";
import { ENDPOINTS } from "../endpoints.ts";
import type { PreparedRoute } from "./prepared-routes.ts";
import type { Representation } from "./representation.ts";
import { RESOURCES, ResourceBodies } from "./resource-bodies.ts";

/** Adds the four resources, the candles and the snapshot. `hasPast`: with the parameter `at`. */
export function addResourceRoutes(
  add: (route: PreparedRoute) => void,
  head: HeadLike,
  hasPast: boolean,
): void {
  const bodies = new ResourceBodies(head);
  const withPast = hasPast ? [AT_PARAMETER.name] : [];
  const addResource = (path: string, bodyOf: BodyOf, channels?: readonly string[]) =>
    add({
      ...{ path, parameters: withPast, channels },
      live: (plan) => bodyOf(bodies, plan),
      now: () => undefined,
      read: async (_request, plan, then) => {
        const of = (path === ENDPOINTS.candles.path ? await then?.withCandles() : then?.bodies) ?? bodies;
        return () => bodyOf(of, plan);
      },
    });
  for (const name of RESOURCES)
    addResource(ENDPOINTS[name].path, (of, plan) => of.resource(name, plan), [`${name}.*`]);
  addResource(ENDPOINTS.candles.path, (of, plan) => of.candles(plan), ["candles"]);
  addResource(ENDPOINTS.snapshot.path, (of, plan) => of.snapshot(plan));
}

type BodyOf = (of: ResourceBodies, plan: Plan | undefined) => Representation;
