import type { ConnectionStatus, DataFreshness, EventMessage, View } from "../../client/index.ts";
import type { GroupName } from "../../lib/text/group-labels.ts";
import type { Token } from "../../model/index.ts";
import type { FlareLists } from "./group/flare-lists.ts";
import type { Access } from "./visitor/access.ts";

/** An event, and its token if known. */
export interface NamedEvent {
  readonly event: EventMessage;
  readonly token: Token | undefined;
}

/** The state of the page at one moment. */
export interface Seen {
  /** The lists, all from one state of the server; `undefined` before the first. */
  readonly view: View | undefined;
  readonly connection: ConnectionStatus;
  /** Whether the browser reported that it has no network, and no newer data has arrived since. */
  readonly isOffline: boolean;
  /** Time without a connection in milliseconds; 0 while connected and for a moment after. */
  readonly awayMs: number;
  /** The visitor's access; `undefined` before the response, `null` if there was none. */
  readonly access: Access | null | undefined;
  readonly freshness: DataFreshness | undefined;
  /** How many times faster than the clock the market runs, if known and not about 1. */
  readonly pace: number | undefined;
  readonly cursor: string | undefined;
  readonly events: readonly NamedEvent[];
  readonly count: number;
  /** The latest starts, finishes and listings since the page was opened, newest first. */
  readonly news: readonly NamedEvent[];
  /** The latest gaps since the page was opened, with reason and size, newest last. */
  readonly gaps: readonly string[];
  /** Why the server rejected this page, if it did. */
  readonly refused: string | undefined;
}

/** A group's flares, and the state of their stream. */
export interface GroupSeen extends Pick<Seen, "connection" | "awayMs" | "freshness"> {
  readonly group: GroupName;
  /** `undefined` before the first response, an Error if it was refused. */
  readonly lists: FlareLists | Error | undefined;
}
