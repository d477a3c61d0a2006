/** Whether values are equal as JSON, in any order of keys; `undefined` is absent, -0 equals 0. */
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

/** Returns an object's own field, if any: an upstream may send `constructor` or `__proto__`. */
export function ownField(object: Readonly<Record<string, unknown>>, field: string): unknown {
  return Object.hasOwn(object, field) ? object[field] : undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
