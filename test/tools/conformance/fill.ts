import { isObject, valueAt } from "./json.ts";

/** Values saved by earlier steps, by name. */
export type Saved = Map<string, unknown>;

/**
 * Replaces `${name}` and `${name/pointer}` by saved values: with their type if the text is nothing
 * else, and as text within other text. `{"$sum": [...]}` is the sum of its numbers. Throws
 * RangeError for a name that was not saved.
 */
export function fill(value: unknown, saved: Saved): unknown {
  if (typeof value === "string") return fillText(value, saved);
  if (Array.isArray(value)) return value.map((item) => fill(item, saved));
  if (!isObject(value)) return value;
  const { $sum } = value;
  if (Array.isArray($sum)) return $sum.reduce((sum: number, item) => sum + Number(fill(item, saved)), 0);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fill(item, saved)]));
}

function fillText(text: string, saved: Saved): unknown {
  const whole = /^\$\{([^}]+)\}$/.exec(text)?.[1];
  if (whole !== undefined) return read(whole, saved);
  return text.replace(/\$\{([^}]+)\}/g, (_all, name: string) => String(read(name, saved)));
}

function read(reference: string, saved: Saved): unknown {
  const [name = "", ...path] = reference.split("/");
  if (!saved.has(name)) throw new RangeError(`no value is saved as "${name}"`);
  return valueAt(saved.get(name), path.map((key) => `/${key}`).join(""));
}
