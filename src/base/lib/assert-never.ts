/** Ends a switch over a union: a missing case fails to compile, an impossible value throws. */
export function assertNever(value: never): never {
  throw new TypeError(`unexpected value ${JSON.stringify(value)}`);
}
