import { join } from "node:path";
import { z } from "zod";
import { isPlainUrl } from "../../base/lib/io/plain-url.ts";
import { existingFile, type Kind, list, look, numberText, text } from "../../base/settings/index.ts";

/** A multiple of real time. `max` is Infinity: as fast as possible. */
export function speed(min: number, max: number): Kind<number> {
  const text = numberText(/^(0|[1-9]\d{0,14})(\.\d{1,9})?$/);
  const finite = z.union([z.number(), text]).pipe(z.number().min(min).max(max));
  return {
    schema: z.union([z.literal("max").transform(() => Number.POSITIVE_INFINITY), finite]),
    bound: `a number from ${min} to ${max}, or max`,
  };
}

/** An existing regular file, or the directory of a recording. */
export const existingRecording: Kind<string> = {
  ...existingFile,
  schema: text(4_096, (path) =>
    [path, join(path || ".", "manifest.json")].some((file) => path !== "" && look(file) === "file"),
  ),
  bound: "the path of a readable file or of a recording's directory",
};

/** Currency names in capitals. */
export const currencies: Kind<readonly string[]> = {
  schema: list(z.string().regex(/^[A-Z0-9]{2,12}$/)).refine((given) => given.length > 0),
  bound: "one or more names of 2 to 12 capital letters and digits, separated by commas",
};

/** A list of JSON-RPC endpoints, `none` for the empty list. Their paths may contain keys. */
export const endpoints: Kind<readonly string[]> = {
  schema: list(text(2_048, isEndpoint)),
  bound: "none, or http://, https://, ws:// or wss:// URLs without a user, separated by commas",
  url: "endpoint",
};

function isEndpoint(text: string): boolean {
  // Without this check, a second address after a space would count as part of the first.
  return isPlainUrl(text, /^(https?|wss?):$/) && !/\s/.test(text);
}
