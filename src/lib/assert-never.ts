/** Ends a switch over a union: does not compile while a case is missing; throws should an impossible value come at run time. */
export function assertNever(value: never): never {
  throw new TypeError(`unexpected value ${JSON.stringify(value)}`);
}
