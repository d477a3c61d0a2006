import { validateHeaderName, validateHeaderValue } from "node:http";

/** Header fields that are made once and sent many times. */
export interface ReadyFields {
  /** By name, in lower case. */
  readonly fields: Readonly<Record<string, string>>;
  /** The fields in wire format, each with its line end. */
  readonly lines: string;
}

/** Prepares fields. Throws TypeError for invalid ones: a line end could smuggle in a field. */
export function readyFields(fields: Readonly<Record<string, string>>): ReadyFields {
  let lines = "";
  for (const [name, value] of Object.entries(fields)) {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    lines += `${name}: ${value}\r\n`;
  }
  return { fields, lines };
}
