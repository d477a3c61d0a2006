import type { FastifyRequest } from "fastify";
import { unknownName } from "../../lib/text/nearest.ts";
import { FlarewireError } from "../../protocol/index.ts";
import { keyInAddress } from "../access/access.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /**
     * Query parameters that the route reads; it rejects all others. Absent: it ignores its query.
     */
    readonly parameters?: readonly string[];
  }
}

/**
 * Returns the error for a query parameter that the route does not read, because a mistyped filter
 * would otherwise have no effect. Its field is the parameter, and its message suggests the nearest
 * known name. Returns `undefined` if there is none.
 */
export function unknownParameter({ query, routeOptions }: FastifyRequest): FlarewireError | undefined {
  const known = routeOptions.config.parameters;
  if (!known || typeof query !== "object" || query === null) return undefined;
  // First, because it says more and does not repeat the key.
  const refusal = keyInAddress(query);
  if (refusal) return refusal;
  const given = Object.keys(query).find((name) => !known.includes(name));
  if (given === undefined) return undefined;
  const bound = known.length === 0 ? "left out" : `one of ${known.join(", ")}`;
  return new FlarewireError("invalid-parameter", unknownName("parameter", given, known), {
    field: given.slice(0, 64),
    bound,
  });
}
