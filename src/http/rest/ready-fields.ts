import { validateHeaderName, validateHeaderValue } from "node:http";

/** Header fields of a response that were made once and are sent many times. */
export interface ReadyFields {
  /** By name, in lower case. */
  readonly fields: Readonly<Record<string, string>>;
  /** The same as they go over the wire, each with its line end. */
  readonly lines: string;
}

/** Throws TypeError for a name or a value that no header field can have: with a line end in it, one could say what others believe to be another. */
export function readyFields(fields: Readonly<Record<string, string>>): ReadyFields {
  let lines = "";
  for (const [name, value] of Object.entries(fields)) {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    lines += `${name}: ${value}\r\n`;
  }
  return { fields, lines };
}
