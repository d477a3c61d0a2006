/** Limits of an item: nesting levels, and total characters of keys, strings and values. */
const ITEM_BOUNDS = { levels: 32, characters: 65_536 } as const;

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns an own field of a JSON object; `undefined` if there is none. Ignores the prototype. */
export function fieldOf(value: unknown, name: string): unknown {
  return isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/**
 * Makes a value fresh from `JSON.parse` safe to pass on: removes every `__proto__` key, which a
 * later assignment would follow. Returns why the value is still unusable, or `undefined` if it is
 * not: it exceeds `bounds`, so that `JSON.stringify` might overflow, or has a number beyond a
 * double's range.
 */
export function sanitize(
  value: unknown,
  bounds: { readonly levels: number; readonly characters: number } = ITEM_BOUNDS,
): string | undefined {
  let characters = 0;
  const visit = (part: unknown, level: number): string | undefined => {
    characters += typeof part === "string" ? part.length : 4;
    if (characters > bounds.characters) return `is larger than ${bounds.characters} characters`;
    if (part === Number.POSITIVE_INFINITY || part === Number.NEGATIVE_INFINITY)
      return "contains a number beyond the range of a double";
    if (typeof part !== "object" || part === null) return undefined;
    if (level > bounds.levels) return `is nested deeper than ${bounds.levels} levels`;
    Reflect.deleteProperty(part, "__proto__");
    for (const [key, inner] of Object.entries(part)) {
      characters += key.length;
      const rejection = visit(inner, level + 1);
      if (rejection !== undefined) return rejection;
    }
    return undefined;
  };
  return visit(value, 1);
}
