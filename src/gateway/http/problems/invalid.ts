import { FlarewireError } from "../../../base/protocol/index.ts";

/** Maximum characters of a client's value that a message repeats. */
const MAX_QUOTED = 64;

/** Returns FlarewireError `invalid-parameter` with the field, its value and its bound. */
export function invalid(field: string, value: unknown, bound: string, hint = ""): FlarewireError {
  const message = `${field} is ${quote(value)}${hint}; it must be ${bound}`;
  return new FlarewireError("invalid-parameter", message, { field, bound });
}

export function quote(value: unknown): string {
  return value === undefined ? "missing" : JSON.stringify(String(value).slice(0, MAX_QUOTED));
}
