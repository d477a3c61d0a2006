interface SchemaError {
  readonly issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[];
}

/**
 * Returns a schema's first issue. `field`: its path, empty for the whole value; `found`: the value
 * there; `message`: what would be valid.
 */
export function firstIssue(error: SchemaError | undefined, value: unknown) {
  const { path, message } = error?.issues[0] ?? { path: [], message: "another value" };
  const found = path.reduce<unknown>(
    (part, key) => (typeof part === "object" && part !== null ? Reflect.get(part, key) : undefined),
    value,
  );
  return { field: path.map(String).join("."), found, message };
}
