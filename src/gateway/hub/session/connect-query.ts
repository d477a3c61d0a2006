import {
  type Cursor,
  FlarewireError,
  parseCursor,
  type Rights,
  type Subscribe,
} from "../../../base/protocol/index.ts";
import { resolveChannels } from "../channel-mask.ts";
import { quote } from "./command-reader.ts";

/** Stands for a cursor before the oldest stored event, in long polls only. */
export const OLDEST = "oldest";
/** The id of the subscription in the URL. */
const URL_SUBSCRIPTION = "url";

/** A connection's URL parameters, as in `subscribe`. The others require `channels`. */
export interface ConnectQuery extends Readonly<Omit<Subscribe, "type" | "id" | "channels">> {
  readonly channels?: readonly string[] | undefined;
}

/**
 * Checks the parameters and the rights before the upgrade, while plain HTTP can report an error.
 * Throws FlarewireError with the field.
 */
export function checkQuery({ channels, filter, ...options }: ConnectQuery, rights?: Rights): void {
  if (channels?.length === 0) {
    throw new FlarewireError("invalid-parameter", "channels is empty; name at least one channel", {
      field: "channels",
    });
  }
  if (channels) resolveChannels(channels, rights);
  if (options.after !== undefined) readCursor(options.after);
  if (channels) return;
  const others = Object.entries({ ...options, ...filter });
  const [field] = others.find(([, value]) => value !== undefined) ?? [];
  if (field !== undefined) {
    const message = `${field} is set without channels; it requires a subscription`;
    throw new FlarewireError("invalid-parameter", message, { field });
  }
}

/** Parses a client's cursor. Throws FlarewireError `invalid-parameter` if it is malformed. */
export function readCursor(text: string): Cursor {
  const cursor = parseCursor(text);
  if (cursor) return cursor;
  const bound = `a cursor from this server; long polls, which return JSON, also take "${OLDEST}" and times with Z`;
  throw new FlarewireError("invalid-parameter", `after is ${quote(text)}; it must be ${bound}`, {
    field: "after",
    bound,
  });
}

/** Builds the equivalent `subscribe` command. */
export function subscribeOf(query: ConnectQuery, channels: readonly string[]): Subscribe {
  return { ...query, type: "subscribe", id: URL_SUBSCRIPTION, channels: [...channels] };
}
