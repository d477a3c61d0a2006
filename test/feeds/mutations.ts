type Path = readonly string[];

/** Returns the paths of all fields. `*` stands for each item of a list of objects or lists. */
export function* pathsOf(value: unknown, path: Path = []): Generator<Path> {
  if (path.length > 0) yield path;
  if (Array.isArray(value)) {
    const isList = value.every((item) => typeof item === "object" && item !== null);
    if (isList && value.length > 0) yield* pathsOf(value[0], [...path, "*"]);
    else for (const [index, item] of value.entries()) yield* pathsOf(item, [...path, String(index)]);
  } else if (typeof value === "object" && value !== null)
    for (const [key, item] of Object.entries(value)) yield* pathsOf(item, [...path, key]);
}

export const CHANGES = {
  absent: (holder, key) => {
    if (Array.isArray(holder)) holder.splice(Number(key), 1);
    else delete holder[key];
  },
  null: (holder, key) => {
    holder[key] = null;
  },
  retyped: (holder, key) => {
    const value = holder[key];
    holder[key] = typeof value === "object" ? "text" : typeof value === "string" ? { value } : [value];
  },
  renamed: (holder, key) => {
    if (Array.isArray(holder)) return;
    holder[`${key}_v2`] = holder[key];
    delete holder[key];
  },
} as const satisfies Record<string, (holder: Record<string, unknown>, key: string) => void>;

/** Returns a copy with the field changed, wherever the path leads. */
export function changed(
  body: unknown,
  path: Path,
  change: (holder: Record<string, unknown>, key: string) => void,
) {
  const copy = structuredClone(body);
  const apply = (value: unknown, [key = "", ...rest]: Path): void => {
    if (typeof value !== "object" || value === null) return;
    if (key === "*") {
      for (const [index, item] of Object.entries(value)) {
        if (rest.length > 0) apply(item, rest);
        else change(value as Record<string, unknown>, index);
      }
    } else if (rest.length === 0) change(value as Record<string, unknown>, key);
    else apply(Reflect.get(value, key), rest);
  };
  apply(copy, path);
  return copy;
}

export const textOf = (value: unknown) =>
  JSON.stringify(value, (_key, one) =>
    typeof one === "bigint" ? String(one) : one instanceof Map ? [...one] : one,
  );

/** Every change of an answer's fields, and of its result. */
export function* mutationsOf(answer: unknown): Generator<readonly [string, unknown]> {
  for (const path of pathsOf(answer))
    for (const [kind, change] of Object.entries(CHANGES))
      yield [`${path.join(".")} ${kind}`, changed(answer, path, change)];
}
