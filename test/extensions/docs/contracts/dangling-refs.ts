/** Returns the unresolved references of a document. */
export function danglingRefs(document: object): readonly string[] {
  const refs = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path = ""]) => path);
  const found = (path: string) =>
    path
      .split("/")
      .reduce<unknown>(
        (part, key) => (typeof part === "object" && part !== null ? Reflect.get(part, key) : undefined),
        document,
      );
  return [...new Set(refs)].filter((path) => found(path) === undefined);
}
