import { suggestion } from "../../base/lib/text/nearest.ts";
import { GROUPS, type Group, groupSuggestion } from "../../base/model/index.ts";
import {
  CHANNEL_PATTERNS,
  CHANNELS,
  EVENT_NAMES,
  FlarewireError,
  ITEM_FIELDS,
  matchChannels,
  QUERY_DECIMAL,
} from "../../base/protocol/index.ts";
import {
  type ConnectOptions,
  connect,
  type Filter,
  type Stream,
  StreamError,
} from "../../clients/sdk/index.ts";
import { flagText, type ParsedFlags } from "../config/flags.ts";
import { CLIENT_KEY_VARIABLE } from "../config/key-variables.ts";
import { redact } from "../config/redact.ts";

/** The server that commands follow by default. */
export const DEFAULT_URL = "http://127.0.0.1:8080";

/** Parameters that select items; `names` selects events. */
export const ITEM_PARAMETERS = [...ITEM_FIELDS, "sticky"] as const;

/** A server's URL as a user types it. */
export interface StreamAddress {
  readonly url: URL;
  readonly filter: Filter;
  readonly query: URLSearchParams;
}

/**
 * Reads the URL of a server, of its API, or of its stream with a query. Appends mistakes to
 * `wrong`. Returns `undefined` if the text is no such URL.
 */
export function readStreamAddress(
  text: string,
  parameters: readonly string[],
  wrong: string[],
): StreamAddress | undefined {
  const address = URL.canParse(text) ? new URL(text) : undefined;
  if (!address || !/^(http|ws)s?:$/.test(address.protocol)) {
    wrong.push(
      `URL ${JSON.stringify(redact(text))} must start with http://, https://, ws:// or wss://, for example ${DEFAULT_URL}`,
    );
    return undefined;
  }
  if (address.username !== "" || address.password !== "")
    wrong.push(`the URL must not contain a user or password; set ${CLIENT_KEY_VARIABLE} to send a key`);
  const query = address.searchParams;
  const filter = readFilter(query, parameters, wrong);
  const url = new URL(`${address.protocol.replace("ws", "http")}//${address.host}`);
  url.pathname = address.pathname.replace(/\/api\/v1(\/stream)?\/*$/, "");
  return { url, filter, query };
}

function readFilter(query: URLSearchParams, parameters: readonly string[], wrong: string[]): Filter {
  const filter: { -readonly [F in keyof Filter]: Filter[F] } = {};
  for (const name of new Set(query.keys())) {
    const values = query.getAll(name).flatMap((value) => value.split(","));
    const [first = ""] = values;
    const quoted = JSON.stringify(redact(first));
    if (!parameters.includes(name))
      wrong.push(
        `the URL's parameter ${JSON.stringify(redact(name))} must be one of ${parameters.join(", ")}${suggestion(name, parameters)}`,
      );
    else if (name === "tokens" || name === "symbols") filter[name] = values;
    else if (name === "min_liquidity") filter[name] = first;
    else if (name === "min_price_change" || name === "min_age" || name === "min_locked")
      if (QUERY_DECIMAL.test(first) && Number.isFinite(Number(first))) filter[name] = Number(first);
      else wrong.push(`${name} ${quoted} must be a number, for example 5`);
    else if (name === "sticky" && /^(true|false)$/.test(first)) filter[name] = first === "true";
    else if (name === "sticky") wrong.push(`${name} ${quoted} must be true or false`);
    else if (name === "names") {
      filter.names = EVENT_NAMES.filter((event) => values.includes(event));
      const unknown = values.find((value) => EVENT_NAMES.every((event) => event !== value));
      if (unknown !== undefined)
        wrong.push(
          `names ${JSON.stringify(redact(unknown))} must be one of ${EVENT_NAMES.join(", ")}${suggestion(unknown, EVENT_NAMES)}`,
        );
    }
  }
  return filter;
}

/** Reads the flag `--group`; `bsc` without it. Appends a mistake to `wrong`. */
export function readGroup(flags: ParsedFlags["flags"], wrong: string[]): Group {
  const name = flagText(flags, "group") ?? "bsc";
  const group = GROUPS.find((one) => one === name);
  if (group === undefined)
    wrong.push(
      `--group ${JSON.stringify(redact(name))} must be one of ${GROUPS.join(", ")}${groupSuggestion(name)}`,
    );
  return group ?? "bsc";
}

/** Returns a message for each name or pattern that matches no channel. */
export function unknownChannels(channels: readonly string[]): readonly string[] {
  return channels
    .filter((channel) => matchChannels(channel).length === 0)
    .map(
      (channel) =>
        `channels: ${JSON.stringify(channel)}${suggestion(channel, CHANNEL_PATTERNS)} matches no channel; known channels: ${CHANNELS.join(", ")}`,
    );
}

/** Connects the SDK. Throws FlarewireError `invalid-setting` for options that it rejects. */
export function openStream(
  { url, filter }: Pick<StreamAddress, "url" | "filter">,
  key: string | undefined,
  options: ConnectOptions,
): Stream {
  try {
    return connect(url, { filter, ...(key === undefined ? {} : { key }), ...options });
  } catch (error) {
    if (!(error instanceof StreamError)) throw error;
    throw new FlarewireError("invalid-setting", error.message, { cause: error });
  }
}
