export function withFirst<T>(list: readonly T[], item: T, max: number): readonly T[] {
  return [item, ...list.slice(0, max - 1)];
}

/** Returns the list with `item` at its end, without its oldest items beyond `max`. */
export function withLast<T>(list: readonly T[], item: T, max: number): readonly T[] {
  return [...list.slice(Math.max(0, list.length + 1 - max)), item];
}
