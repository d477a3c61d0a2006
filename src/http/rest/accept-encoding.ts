/** A form in which a body can be sent. `identity` is the body as it is. */
export type Coding = "br" | "gzip" | "identity";

/** The compressed forms, the one we like best first. */
const COMPRESSED = ["br", "gzip"] as const;

const WEIGHT = /^\s*q\s*=\s*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*$/i;

/** Clients send a handful of different values; the bound keeps strangers from filling memory with others. */
const MAX_REMEMBERED = 64;
const remembered = new Map<string, Coding>();

/**
 * The coding that an `Accept-Encoding` field asks for (RFC 9110, 12.5.3): the acceptable one with the highest weight, of
 * equals the smaller form. Never refuses: where nothing that we have is acceptable, or the field cannot be read, or is
 * missing, it is `identity`.
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

/** Weights by coding, lower case. A member whose weight cannot be read counts as not acceptable. */
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
