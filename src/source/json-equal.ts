/**
 * True when `a` and `b` are the same JSON value: every field, every element, arrays in order, object keys in any order. A field whose value is
 * `undefined` counts as absent, as in JSON text; 0 and -0 are equal, as their texts are. Identical references answer at once.
 */
export function jsonEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((value, index) => jsonEqual(value, b[index]));
  }
  if (!isObject(a) || !isObject(b) || Array.isArray(b)) return false;
  let common = 0;
  for (const field of Object.keys(a)) {
    if (!jsonEqual(a[field], ownField(b, field))) return false;
    if (Object.hasOwn(b, field)) common += 1;
  }
  const fields = Object.keys(b);
  return (
    fields.length === common || fields.every((field) => b[field] === undefined || Object.hasOwn(a, field))
  );
}

/** The field's value, `undefined` where the object has none of its own: an upstream may name a field `constructor` or `__proto__`. */
export function ownField(object: Readonly<Record<string, unknown>>, field: string): unknown {
  return Object.hasOwn(object, field) ? object[field] : undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
