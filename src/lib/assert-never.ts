/**
 * Ends a switch over a union. Fails to compile while a case is missing, and throws on an impossible
 * value at run time.
 */
export function assertNever(value: never): never {
  throw new TypeError(`unexpected value ${JSON.stringify(value)}`);
}
