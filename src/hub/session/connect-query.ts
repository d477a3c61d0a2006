import {
  type Cursor,
  type Filter,
  FlarewireError,
  type Plan,
  parseCursor,
  type Subscribe,
} from "../../protocol/index.ts";
import { resolveChannels } from "../channel-mask.ts";
import { quote } from "./command-reader.ts";

/** The id of the subscription that the address asked for. */
export const URL_SUBSCRIPTION = "url";

/** What a connection asks for in its address; as in the command `subscribe`. Nothing is subscribed to without `channels`. */
export interface ConnectQuery {
  readonly channels?: readonly string[] | undefined;
  readonly filter?: Filter | undefined;
  readonly mode?: Subscribe["mode"];
  readonly after?: string | undefined;
  readonly snapshot?: boolean | undefined;
  /** A server mirrors this one: it needs more than the snapshot. */
  readonly mirror?: boolean | undefined;
}

/** Refuses what a connection of this plan must not ask for, while it can still be refused in HTTP: FlarewireError with the field. */
export function checkQuery({ channels, filter, mode, after }: ConnectQuery, plan?: Plan): void {
  if (channels?.length === 0) {
    throw new FlarewireError("invalid-parameter", "channels is empty; it has to name at least one channel", {
      field: "channels",
    });
  }
  if (channels) resolveChannels(channels, plan);
  if (after !== undefined) readCursor(after);
  if (channels) return;
  const [field] = Object.keys({
    ...(after === undefined ? {} : { after }),
    ...(mode === undefined ? {} : { mode }),
    ...filter,
  });
  if (field !== undefined) {
    const message = `${field} is given without channels; it goes with a subscription`;
    throw new FlarewireError("invalid-parameter", message, { field });
  }
}

/** The cursor that a client gave; FlarewireError `invalid-parameter` when it is none. */
export function readCursor(text: string): Cursor {
  const cursor = parseCursor(text);
  if (cursor) return cursor;
  const bound = "a cursor as the server gave it";
  throw new FlarewireError("invalid-parameter", `after is ${quote(text)}; it has to be ${bound}`, {
    field: "after",
    bound,
  });
}

/** The address's query as the command that it stands for. */
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
