import {
  type Cursor,
  type Filter,
  FlarewireError,
  parseCursor,
  type Rights,
  type Subscribe,
} from "../../protocol/index.ts";
import { resolveChannels } from "../channel-mask.ts";
import { quote } from "./command-reader.ts";

/** The id of the subscription in the URL. */
const URL_SUBSCRIPTION = "url";

/** A connection's URL parameters, as in `subscribe`; nothing without `channels`. */
export interface ConnectQuery {
  readonly channels?: readonly string[] | undefined;
  readonly filter?: Filter | undefined;
  readonly mode?: Subscribe["mode"];
  readonly after?: string | undefined;
  readonly snapshot?: boolean | undefined;
  /** The client is a mirror, which needs more than the snapshot. */
  readonly mirror?: boolean | undefined;
}

/**
 * Checks parameters against the rights while HTTP can still refuse. Throws an error that names the
 * field.
 */
export function checkQuery(
  { channels, filter, mode, after, snapshot, mirror }: ConnectQuery,
  rights?: Rights,
): void {
  if (channels?.length === 0) {
    throw new FlarewireError("invalid-parameter", "channels is empty; name at least one channel", {
      field: "channels",
    });
  }
  if (channels) resolveChannels(channels, rights);
  if (after !== undefined) readCursor(after);
  if (channels) return;
  const [field] = Object.keys({
    ...(after === undefined ? {} : { after }),
    ...(mode === undefined ? {} : { mode }),
    ...(snapshot === undefined ? {} : { snapshot }),
    ...(mirror === undefined ? {} : { mirror }),
    ...filter,
  });
  if (field !== undefined) {
    const message = `${field} is set without channels; it requires a subscription`;
    throw new FlarewireError("invalid-parameter", message, { field });
  }
}

/** Parses a client's cursor. Throws FlarewireError `invalid-parameter` if it is malformed. */
export function readCursor(text: string): Cursor {
  const cursor = parseCursor(text);
  if (cursor) return cursor;
  const bound = "a cursor from this server";
  throw new FlarewireError("invalid-parameter", `after is ${quote(text)}; it must be ${bound}`, {
    field: "after",
    bound,
  });
}

/** Builds the equivalent `subscribe` command. */
export function subscribeOf(
  { filter, mode, after, snapshot, mirror }: ConnectQuery,
  channels: readonly string[],
): Subscribe {
  return {
    type: "subscribe",
    id: URL_SUBSCRIPTION,
    channels: [...channels],
    ...(filter === undefined ? {} : { filter }),
    ...(mode === undefined ? {} : { mode }),
    ...(after === undefined ? {} : { after }),
    ...(snapshot === undefined ? {} : { snapshot }),
    ...(mirror === undefined ? {} : { mirror }),
  };
}
