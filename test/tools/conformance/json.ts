/** A parsed JSON object. Its fields are checked one by one. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether a value is a JSON object. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Returns the value at a JSON pointer (RFC 6901, without `~` escapes), or `undefined`. "" is the
 * whole value.
 */
export function valueAt(value: unknown, pointer: string): unknown {
  let found = value;
  for (const key of pointer.split("/").slice(1)) {
    if (Array.isArray(found)) found = found.at(Number(key));
    else found = isObject(found) && Object.hasOwn(found, key) ? found[key] : undefined;
  }
  return found;
}

/** Formats a value as short JSON for messages. */
export function show(value: unknown): string {
  const text = value === undefined ? "nothing" : (JSON.stringify(value) ?? String(value));
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

/** Parses JSON. Returns `undefined` if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the first difference of two JSON values, or `undefined` if they are equal. */
export function difference(
  left: unknown,
  right: unknown,
  path = "",
): { readonly path: string; readonly left: unknown; readonly right: unknown } | undefined {
  if (Object.is(left, right)) return undefined;
  if (Array.isArray(left) && Array.isArray(right)) {
    if (left.length !== right.length) {
      return { path: `${path}/length`, left: left.length, right: right.length };
    }
    for (const [at, value] of left.entries()) {
      const found = difference(value, right[at], `${path}/${at}`);
      if (found) return found;
    }
    return undefined;
  }
  if (isObject(left) && isObject(right)) {
    for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
      const found = difference(left[key], right[key], `${path}/${key}`);
      if (found) return found;
    }
    return undefined;
  }
  return { path, left, right };
}
