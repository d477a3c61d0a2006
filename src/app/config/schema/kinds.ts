import { isIP } from "node:net";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { isPlainUrl } from "../../../base/lib/io/plain-url.ts";
import { look } from "./look.ts";
import { formatDuration, formatSize, parseDuration, parseSize } from "./quantity.ts";

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

/** A number of processes. `auto`: one less than the available cores, but from 1 to `max`. */
export function processes(max: number): Kind<number> {
  const { schema } = integer(1, max);
  const auto = z.literal("auto").transform(() => Math.min(max, Math.max(1, availableParallelism() - 1)));
  return { schema: z.union([auto, schema]), bound: `a whole number from 1 to ${max}, or auto` };
}

/** A multiple of real time. `max` is Infinity: as fast as possible. */
export function speed(min: number, max: number): Kind<number> {
  const text = numberText(/^(0|[1-9]\d{0,14})(\.\d{1,9})?$/);
  const finite = z.union([z.number(), text]).pipe(z.number().min(min).max(max));
  return {
    schema: z.union([z.literal("max").transform(() => Number.POSITIVE_INFINITY), finite]),
    bound: `a number from ${min} to ${max}, or max`,
  };
}

export const flag: Kind<boolean> = {
  schema: z.union([z.boolean(), z.enum(["true", "false"]).transform((text) => text === "true")]),
  bound: "true or false",
  flagOnly: true,
};

export function oneOf<const T extends readonly [string, ...string[]]>(words: T): Kind<T[number]> {
  const bound = words.length === 1 ? words[0] : `one of ${words.join(", ")}`;
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

/** An existing regular file, or the directory of a recording. */
export const existingRecording: Kind<string> = {
  ...existingFile,
  schema: text(4_096, (path) =>
    [path, join(path || ".", "manifest.json")].some((file) => path !== "" && look(file) === "file"),
  ),
  bound: "the path of a readable file or of a recording's directory",
};

/** A directory, created if missing, or `none`. */
export const directoryOrNone: Kind<string> = {
  schema: text(4_096, (path) => path !== "" && !path.includes("\0")),
  bound: "none, or the path of a directory (created if missing)",
  path: true,
  words: ["none"],
};

/** An address or a name to listen on. */
export const hostName: Kind<string> = {
  schema: text(253, (name) => /^[A-Za-z0-9_:]([A-Za-z0-9._:-]*[A-Za-z0-9_:])?$/.test(name)),
  bound: "an IP address or a host name",
};

/** The path of the API on its host, with a leading and no trailing slash. Empty for the root. */
export const urlPath: Kind<string> = {
  schema: z
    .string()
    .max(200)
    .regex(/^(\/|(\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+)$/)
    .transform((text) => (text === "/" ? "" : text)),
  bound:
    "/, or parts that each start with a slash, of letters, digits and . _ ~ - (no leading dot), at most 200 characters",
};

/** Prefix of the address of a gateway to follow. */
export const FOLLOW = "follow:";

/** `engine`, or a service's URL without trailing slash. {@link FOLLOW} marks a leader. */
export const sourceName: Kind<string> = {
  schema: z.union([
    z.literal("engine"),
    text(2_048, (url) => isServiceUrl(url) || isLeader(url)).transform(withoutSlash),
  ]),
  bound: "engine, an http:// or https:// URL without user, query or fragment, or follow: with such a URL",
  url: true,
};

const SERVER = /^(?:[\w.-]+|\[[0-9a-f:]+\])(?::\d{1,5})?$/i;

/** The servers of a cluster, without their password, or `none`. */
export const clusterServers: Kind<string> = {
  schema: text(2_048, (given) => {
    const [, scheme, hosts = "", name = ""] = /^([a-z+]+):\/\/([^/]*)(?:\/(.*))?$/.exec(given) ?? [];
    const servers = hosts.split(",");
    if (given === "none") return true;
    if (servers.some((server) => !SERVER.test(server))) return false;
    if (scheme === "redis+sentinel" || scheme === "rediss+sentinel") return /^[\w.-]{1,64}$/.test(name);
    return (scheme === "redis" || scheme === "rediss") && servers.length === 1 && name === "";
  }),
  bound:
    "none, redis://HOST:PORT, rediss://HOST:PORT (TLS), or redis+sentinel://HOST:PORT,HOST:PORT,…/NAME (rediss+sentinel: TLS), without user or password",
  url: true,
};

/** The name of a cluster. */
export const clusterName: Kind<string> = {
  schema: z.string().regex(/^[a-z0-9][a-z0-9-]{0,31}$/),
  bound: "1 to 32 characters of a-z, 0-9 and -, and no leading -",
};

/** One or more of these words, separated by commas, or a list of them. */
export function someOf<const T extends readonly [string, ...string[]]>(words: T): Kind<readonly T[number][]> {
  return {
    schema: list(z.enum(words)).refine((given) => given.length > 0),
    bound: `one or more of ${words.join(", ")}, separated by commas`,
    names: words,
  };
}

/** Like {@link someOf}, or `none` for the empty list. */
export function someOrNone<const T extends readonly [string, ...string[]]>(
  words: T,
): Kind<readonly T[number][]> {
  const bound = `none, or some of ${words.join(", ")}, separated by commas`;
  return { schema: list(z.enum(words)), bound, names: words };
}

/** Currency names in capitals. */
export const currencies: Kind<readonly string[]> = {
  schema: list(z.string().regex(/^[A-Z0-9]{2,12}$/)).refine((given) => given.length > 0),
  bound: "one or more names of 2 to 12 capital letters and digits, separated by commas",
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

/** A contact for the operators of push services. RFC 8292 allows these two forms. */
export const pushContact: Kind<string> = {
  schema: text(
    320,
    (contact) =>
      /^mailto:[^@\s]+@[^@\s]+$/.test(contact) || (contact.startsWith("https:") && isServiceUrl(contact)),
  ),
  bound: "mailto: with an address, or an https:// URL without user, query or fragment",
};

/** The URL of a JWK set. Without TLS, others could replace the keys in transit. */
export const keySetUrl: Kind<string> = {
  schema: text(2_048, (url) => isServiceUrl(url) && (url.startsWith("https:") || isLoopback(new URL(url)))),
  bound: "an https:// URL, or http:// on this machine, without user, query or fragment",
  url: true,
};

/** The value of a token's claim. */
export const claim: Kind<string> = {
  schema: z.string().regex(/^[^\s\p{Cc}]{1,256}$/u),
  bound: "1 to 256 characters without spaces",
};

/** A list of web origins, `*` for any, `none` for the empty list. */
export const origins: Kind<readonly string[]> = {
  schema: list(text(300, (origin) => origin === "*" || isOrigin(origin))),
  bound: "*, none, or origins such as https://name[:port], separated by commas",
};

/** A list of host names without ports; `*` for any, `none` for the empty list. */
export const hosts: Kind<readonly string[]> = {
  schema: list(text(253, (host) => host === "*" || isIP(host) !== 0 || isDomain(host))),
  bound: "*, none, or host names or IP addresses without a port, separated by commas",
};

/** A list of JSON-RPC endpoints, `none` for the empty list. Their paths may contain keys. */
export const endpoints: Kind<readonly string[]> = {
  schema: list(text(2_048, isEndpoint)),
  bound: "none, or http://, https://, ws:// or wss:// URLs without a user, separated by commas",
  url: "endpoint",
};

/** A list of IP addresses or networks, `none` for the empty list. */
export const networks: Kind<readonly string[]> = {
  schema: list(text(50, isNetwork)),
  bound: "none, or IP addresses, networks such as 10.0.0.0/8, or the word loopback, separated by commas",
};

/** A text of at most `max` characters that passes the check. */
function text(max: number, isGood: (given: string) => boolean): z.ZodString {
  return z.string().max(max).refine(isGood);
}

function numberText(form: RegExp) {
  return z.string().regex(form).transform(Number);
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, "");
}

function quantity(parse: (text: string) => number | undefined, min: number, max: number): z.ZodType<number> {
  const given = z.union([z.string(), z.literal(0).transform(String)]);
  return given.transform((value) => parse(value) ?? Number.NaN).pipe(z.number().min(min).max(max));
}

function list<T extends string>(item: z.ZodType<T, string>): z.ZodType<readonly T[]> {
  const given = z
    .string()
    .transform((value) => (value === "none" ? [] : value.split(",").map((part) => part.trim())));
  return z.union([z.array(z.string()), given]).pipe(z.array(item).max(1_000));
}

function isLeader(text: string): boolean {
  return text.startsWith(FOLLOW) && isServiceUrl(text.slice(FOLLOW.length));
}

function isServiceUrl(text: string): boolean {
  return isPlainUrl(text, /^https?:$/) && !/[?#]/.test(text);
}

function isLoopback({ hostname }: URL): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

function isEndpoint(text: string): boolean {
  // Without this check, a second address after a space would count as part of the first.
  return isPlainUrl(text, /^(https?|wss?):$/) && !/\s/.test(text);
}

function isOrigin(text: string): boolean {
  return URL.canParse(text) && /^https?:/.test(text) && new URL(text).origin === text;
}

function isDomain(text: string): boolean {
  return /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/i.test(text);
}

function isNetwork(text: string): boolean {
  if (text === "loopback") return true;
  const [, address, bits] = /^([0-9A-Fa-f.:]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const version = isIP(address ?? "");
  // A network of 0 bits contains every address, so any client could claim any address.
  const length = Number(bits ?? 1);
  return version !== 0 && length >= 1 && length <= (version === 4 ? 32 : 128);
}
