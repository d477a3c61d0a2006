/* Encodes the engine's state (plain data, maps, typed arrays) as JSON and decodes it exactly. */

/** A value that JSON represents without loss. */
export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };

const ARRAYS = { $f64: Float64Array, $u32: Uint32Array, $u8: Uint8Array } as const;
type ArrayTag = keyof typeof ARRAYS;
/** Strict base64: Buffer ignores invalid characters. */
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const IS_LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;
const TAGS: readonly ArrayTag[] = ["$f64", "$u32", "$u8"];

/**
 * Encodes `value` as JSON without `undefined` fields. Throws TypeError for a function, a symbol, a
 * bigint, and an `undefined` that is not a field.
 */
export function encodeState(value: unknown): JsonValue {
  if (value === null || typeof value === "boolean" || typeof value === "string") return value;
  if (typeof value === "number") return encodeNumber(value);
  if (typeof value !== "object") throw new TypeError(`cannot encode a ${typeof value}`);
  if (Array.isArray(value)) return value.map(encodeState);
  if (value instanceof Map)
    return { $map: [...value].map(([key, item]) => [encodeState(key), encodeState(item)]) };
  for (const tag of TAGS) if (value instanceof ARRAYS[tag]) return { [tag]: encodeBytes(value) };
  const encoded: { [key: string]: JsonValue } = {};
  for (const [key, item] of Object.entries(value)) if (item !== undefined) encoded[key] = encodeState(item);
  return encoded;
}

/** Reverses {@link encodeState}. Throws TypeError if a map or typed array is malformed. */
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
  if (!Array.isArray(json)) throw new TypeError("a map's entries must be a list");
  return new Map(
    json.map((entry) => {
      if (!Array.isArray(entry) || entry.length !== 2) throw new TypeError("a map's entry must be a pair");
      return [decodeState(entry[0] ?? null), decodeState(entry[1] ?? null)] as const;
    }),
  );
}

/** Encodes an array's bytes as base64, in a fifth of the time that decimal numbers take. */
function encodeBytes(array: Float64Array | Uint32Array | Uint8Array): string {
  const bytes = Buffer.from(array.buffer, array.byteOffset, array.byteLength);
  return inOrder(bytes, array.BYTES_PER_ELEMENT).toString("base64");
}

function decodeArray(tag: ArrayTag, json: JsonValue | undefined): Float64Array | Uint32Array | Uint8Array {
  const { BYTES_PER_ELEMENT } = ARRAYS[tag];
  if (typeof json !== "string" || !BASE64.test(json)) throw new TypeError(`${tag} must be base64`);
  const bytes = Uint8Array.from(inOrder(Buffer.from(json, "base64"), BYTES_PER_ELEMENT));
  if (bytes.length % BYTES_PER_ELEMENT !== 0)
    throw new TypeError(`${tag} has ${bytes.length} bytes, not a multiple of ${BYTES_PER_ELEMENT}`);
  return new ARRAYS[tag](bytes.buffer);
}

/**
 * Converts numbers between this machine's byte order and the checkpoint's, which is little-endian.
 */
function inOrder(bytes: Buffer, width: number): Buffer {
  if (IS_LITTLE_ENDIAN || width === 1 || bytes.length % width !== 0) return bytes;
  return width === 4 ? Buffer.from(bytes).swap32() : Buffer.from(bytes).swap64();
}
