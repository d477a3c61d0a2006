/*
 * The engine's state is plain data, maps and typed arrays. Here it becomes a JSON value and comes back as it was, to the bit.
 */

/** A value that JSON holds without loss. */
export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };

const ARRAYS = { $f64: Float64Array, $u32: Uint32Array, $u8: Uint8Array } as const;
type ArrayTag = keyof typeof ARRAYS;
const TAGS: readonly ArrayTag[] = ["$f64", "$u32", "$u8"];

/** `value` as JSON. Fields that are `undefined` are left out. Throws TypeError for a function, a symbol or a bigint. */
export function encodeState(value: unknown): JsonValue {
  if (value === null || typeof value === "boolean" || typeof value === "string") return value;
  if (typeof value === "number") return encodeNumber(value);
  if (typeof value !== "object") throw new TypeError(`a state cannot hold a ${typeof value}`);
  if (Array.isArray(value)) return value.map(encodeState);
  if (value instanceof Map)
    return { $map: [...value].map(([key, item]) => [encodeState(key), encodeState(item)]) };
  for (const tag of TAGS) if (value instanceof ARRAYS[tag]) return { [tag]: Array.from(value, encodeNumber) };
  const known = Object.entries(value).filter(([, item]) => item !== undefined);
  return Object.fromEntries(known.map(([key, item]) => [key, encodeState(item)]));
}

/** The value that {@link encodeState} was given. Throws TypeError where a tagged part is not what its tag says. */
export function decodeState(json: JsonValue): unknown {
  if (typeof json !== "object" || json === null) return json;
  if (Array.isArray(json)) return json.map(decodeState);
  if ("$number" in json) return Number(json.$number);
  if ("$map" in json) return decodeMap(json.$map);
  for (const tag of TAGS) if (tag in json) return decodeArray(tag, json[tag]);
  return Object.fromEntries(Object.entries(json).map(([key, item]) => [key, decodeState(item)]));
}

function encodeNumber(value: number): JsonValue {
  return Number.isFinite(value) && !Object.is(value, -0)
    ? value
    : { $number: Object.is(value, -0) ? "-0" : String(value) };
}

function decodeMap(json: JsonValue | undefined): Map<unknown, unknown> {
  if (!Array.isArray(json)) throw new TypeError("a map's entries are not a list");
  return new Map(
    json.map((entry) => {
      if (!Array.isArray(entry) || entry.length !== 2) throw new TypeError("a map's entry is not a pair");
      return [decodeState(entry[0] ?? null), decodeState(entry[1] ?? null)] as const;
    }),
  );
}

function decodeArray(tag: ArrayTag, json: JsonValue | undefined): Float64Array | Uint32Array | Uint8Array {
  if (!Array.isArray(json)) throw new TypeError(`${tag} is not a list`);
  return ARRAYS[tag].from(json.map((item) => Number(decodeState(item))));
}
