export function chunks<T>(list: readonly T[], most: number): readonly (readonly T[])[] {
  const count = Math.ceil(list.length / most);
  return Array.from({ length: count }, (_, index) => list.slice(index * most, (index + 1) * most));
}
