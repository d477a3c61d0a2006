import { statSync } from "node:fs";
import { z } from "zod";
import { isPlainUrl } from "../lib/io/plain-url.ts";
import { formatDuration, formatSize, parseDuration, parseSize } from "../lib/text/quantity.ts";

const MAX_SIZE_BYTES = 1_024 ** 4;

/** How to read a value from text or JSON, and its bound in words, which completes "must be …". */
export interface Kind<T> {
  readonly schema: z.ZodType<T>;
  readonly bound: string;
  /** A clearer sentence than the bound for some invalid values. Follows `name = value (from)`. */
  readonly objection?: (value: unknown) => string | undefined;
  /** A URL: messages hide its secrets. `endpoint`: messages show only scheme and host. */
  readonly url?: boolean | "endpoint";
  /** The value is a path, relative to the directory of its file or to the working directory. */
  readonly path?: boolean;
  /** The allowed names; a message about another value suggests the nearest one. */
  readonly names?: readonly string[];
  /** Words that are allowed in place of a path. */
  readonly words?: readonly string[];
  /** The flag takes no value: `--loop`, `--no-loop`. */
  readonly flagOnly?: boolean;
}

/** A duration with its unit, read as milliseconds. */
export function duration(min: number, max: number): Kind<number> {
  return {
    schema: quantity(parseDuration, min, max),
    bound: `a duration from ${formatDuration(min)} to ${formatDuration(max)} (units ms, s, m, h, d)`,
  };
}

/** A size with its unit, read as bytes. */
export function size(min: number): Kind<number> {
  return {
    schema: quantity(parseSize, min, MAX_SIZE_BYTES),
    bound: `a size from ${formatSize(min)} to ${formatSize(MAX_SIZE_BYTES)} (units B, KiB, MiB, GiB)`,
  };
}

/** Also accepts `none`, which means no bound and is read as Infinity. */
export function orNone({ schema, bound }: Kind<number>): Kind<number> {
  const none = z.literal("none").transform(() => Number.POSITIVE_INFINITY);
  return { schema: z.union([none, schema]), bound: `none, or ${bound}` };
}

export function integer(min: number, max: number): Kind<number> {
  return {
    schema: z.union([z.int(), numberText(/^(0|[1-9]\d{0,14})$/)]).pipe(z.int().min(min).max(max)),
    bound: `a whole number from ${min} to ${max}`,
  };
}

export const flag: Kind<boolean> = {
  schema: z.union([z.boolean(), z.enum(["true", "false"]).transform((text) => text === "true")]),
  bound: "true or false",
  flagOnly: true,
};

export function oneOf<const W extends string>(words: readonly W[]): Kind<W> {
  const bound = `${words.length === 1 ? "" : "one of "}${words.join(", ")}`;
  return { schema: z.enum(words), bound, names: words };
}

/** An existing regular file. A pipe can be read only once, and opening it blocks. */
export const existingFile: Kind<string> = {
  schema: text(4_096, (path) => look(path) === "file"),
  bound: "the path of a readable file",
  objection: (path) =>
    typeof path === "string" && look(path) === "special"
      ? "is not a regular file; write the output of a pipe to a file first"
      : undefined,
  path: true,
};

/** A directory, created if missing, or `none`. */
export const directoryOrNone: Kind<string> = {
  schema: text(4_096, (path) => path !== "" && !path.includes("\0")),
  bound: "none, or the path of a directory (created if missing)",
  path: true,
  words: ["none"],
};

/** The URL of an external service, without trailing slash. `https` and `wss` are allowed too. */
export function serviceUrl(scheme: "http" | "ws"): Kind<string> {
  const isGood = (text: string) =>
    [`${scheme}://`, `${scheme}s://`].some((start) => text.startsWith(start)) &&
    isServiceUrl(text.replace(/^ws/, "http"));
  return {
    schema: text(2_048, isGood).transform(withoutSlash),
    bound: `a URL that starts with ${scheme}:// or ${scheme}s://, without user, query or fragment`,
    url: true,
  };
}

/** A text of at most `max` characters that passes the check. */
export function text(max: number, isGood: (given: string) => boolean): z.ZodString {
  return z.string().max(max).refine(isGood);
}

/** A number written in digits that match the form. */
export function numberText(form: RegExp) {
  return z.string().regex(form).transform(Number);
}

/** Removes the slashes at the end of a URL. */
export function withoutSlash(url: string): string {
  return url.replace(/\/+$/, "");
}

function quantity(parse: (text: string) => number | undefined, min: number, max: number): z.ZodType<number> {
  const given = z.union([z.string(), z.literal(0).transform(String)]);
  return given.transform((value) => parse(value) ?? Number.NaN).pipe(z.number().min(min).max(max));
}

/** A list, written with commas or as an array. `none`: the empty list. */
export function list<T extends string>(item: z.ZodType<T, string>): z.ZodType<readonly T[]> {
  const given = z
    .string()
    .transform((value) => (value === "none" ? [] : value.split(",").map((part) => part.trim())));
  return z.union([z.array(z.string()), given]).pipe(z.array(item).max(1_000));
}

/** Returns whether the text is an http:// or https:// URL without user, query or fragment. */
export function isServiceUrl(text: string): boolean {
  return isPlainUrl(text, /^https?:$/) && !/[?#]/.test(text);
}

/** Returns the kind of file at a path. `special`: a pipe, device or socket. */
export function look(path: string): "file" | "directory" | "special" | "nothing" {
  try {
    const stat = statSync(path);
    if (stat.isFile()) return "file";
    return stat.isDirectory() ? "directory" : "special";
  } catch {
    return "nothing";
  }
}
