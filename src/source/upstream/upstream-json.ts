/** How much of one item an upstream may make us hold and pass on: levels of nesting, and characters of keys, strings and values together. */
export const ITEM_BOUNDS = { levels: 32, characters: 65_536 } as const;

/** True for what JSON calls an object. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The own field of a JSON object; `undefined` where `value` is none or lacks it. Never one that its prototype lends. */
export function fieldOf(value: unknown, name: string): unknown {
  return isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/**
 * Makes a value fresh out of `JSON.parse` fit to be passed on with fields that nobody here knows: takes out every `__proto__`
 * key, in place, because a later assignment by name would set a prototype. Returns why the value is unfit all the same, or
 * `undefined`: beyond `bounds` (`JSON.stringify` recurses, and overflows on nesting that `JSON.parse` takes), or
 * a number that is too large for a double and would be served as `null`.
 */
export function sanitize(
  value: unknown,
  bounds: { readonly levels: number; readonly characters: number } = ITEM_BOUNDS,
): string | undefined {
  let characters = 0;
  const visit = (part: unknown, level: number): string | undefined => {
    characters += typeof part === "string" ? part.length : 4;
    if (characters > bounds.characters) return `larger than ${bounds.characters} characters`;
    if (part === Number.POSITIVE_INFINITY || part === Number.NEGATIVE_INFINITY)
      return "holds a number beyond the range of a double";
    if (typeof part !== "object" || part === null) return undefined;
    if (level > bounds.levels) return `nested deeper than ${bounds.levels} levels`;
    Reflect.deleteProperty(part, "__proto__");
    for (const [key, inner] of Object.entries(part)) {
      characters += key.length;
      const refusal = visit(inner, level + 1);
      if (refusal !== undefined) return refusal;
    }
    return undefined;
  };
  return visit(value, 1);
}
