/** Content coding of a body. `identity` is uncompressed. */
export type Coding = "br" | "gzip" | "identity";

/** Compressed codings in order of preference. */
const COMPRESSED = ["br", "gzip"] as const;

const WEIGHT = /^\s*q\s*=\s*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*$/i;

/** Clients send only a few different values; the limit keeps others from filling memory. */
const MAX_REMEMBERED = 64;
const remembered = new Map<string, Coding>();

/**
 * Chooses the coding with the highest weight (RFC 9110, 12.5.3), among equals the smallest;
 * `identity` if none is acceptable.
 */
export function chooseCoding(field: string | undefined): Coding {
  if (field === undefined || field === "") return "identity";
  const known = remembered.get(field);
  if (known !== undefined) return known;
  const coding = negotiate(field);
  if (remembered.size < MAX_REMEMBERED && field.length <= 256) remembered.set(field, coding);
  return coding;
}

function negotiate(field: string): Coding {
  const weights = parseWeights(field);
  let best: Coding = "identity";
  let bestWeight = 0;
  for (const coding of COMPRESSED) {
    const weight = weights.get(coding) ?? weights.get("*") ?? 0;
    if (weight > bestWeight) {
      best = coding;
      bestWeight = weight;
    }
  }
  return (weights.get("identity") ?? 0) > bestWeight ? "identity" : best;
}

/** Parses weights by coding, in lower case. A member with an invalid weight is not acceptable. */
function parseWeights(field: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const member of field.split(",")) {
    const [name = "", ...parameters] = member.split(";");
    const coding = name.trim().toLowerCase();
    if (coding === "") continue;
    const weight = parameters.length === 0 ? 1 : Number(WEIGHT.exec(parameters[0] ?? "")?.[1] ?? 0);
    weights.set(coding === "x-gzip" ? "gzip" : coding, weight);
  }
  return weights;
}
