import type { FastifyRequest } from "fastify";
import { unknownName } from "../../../base/lib/text/nearest.ts";
import { FlarewireError } from "../../../base/protocol/index.ts";
import { keyInUrl } from "../access/access.ts";

/**
 * Returns the error for a key in the query, a parameter that the route does not read, or an invalid
 * percent escape. An unknown parameter is an error because a mistyped filter would have no effect.
 * The message suggests the nearest known name.
 */
export function unknownParameter({ query, raw, routeOptions }: FastifyRequest): FlarewireError | undefined {
  const { query: parameters, keyParameter } = routeOptions.config.contract ?? {};
  if (!parameters || typeof query !== "object" || query === null) return undefined;
  // Checked first, because its message is more specific and does not repeat the key.
  const refusal = keyInUrl(keyParameter === undefined ? query : { ...query, [keyParameter]: "" });
  if (refusal) return refusal;
  const known = Object.keys(parameters);
  const given = Object.keys(query).find((name) => !known.includes(name));
  if (given === undefined) return badEscape(raw.url);
  const bound = known.length === 0 ? "left out" : `a parameter of this resource: ${known.join(", ")}`;
  return new FlarewireError("invalid-parameter", unknownName("parameter", given, known), {
    field: given.slice(0, 64),
    bound,
  });
}

/** Returns the error for the first parameter whose value is not percent-encoded UTF-8. */
function badEscape(target = ""): FlarewireError | undefined {
  const [, query = ""] = /\?([^#]*)/.exec(target) ?? [];
  if (!query.includes("%")) return undefined;
  for (const part of query.split("&")) {
    try {
      decodeURIComponent(part);
    } catch {
      const field = (part.split("=", 1)[0] ?? "").slice(0, 64);
      const bound = 'UTF-8, with each literal percent sign as "%25"';
      const message = `${field} has an invalid percent escape; values must be ${bound}`;
      return new FlarewireError("invalid-parameter", message, { field, bound });
    }
  }
  return undefined;
}
