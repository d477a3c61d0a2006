import type { Token } from "../../../base/model/index.ts";
import type { ConnectionStatus, DataFreshness, EventMessage, View } from "../../sdk/index.ts";
import type { FlareLists } from "./group/flare-lists.ts";
import type { Access } from "./visitor/access.ts";

/** An event, and its token if known. */
export interface NamedEvent {
  readonly event: EventMessage;
  readonly token: Token | undefined;
}

/** The state of a group's stream at one moment. The page's own stream is the one of `bsc`. */
export interface Seen {
  /** The lists, all from one state of the server; `undefined` before the first. */
  readonly view: View | undefined;
  /** The group's flares; `undefined` before the first, an Error if the server refused them. */
  readonly lists: FlareLists | Error | undefined;
  readonly connection: ConnectionStatus;
  /**
   * Whether the browser reported after the first data that it has no network, and since then
   * neither newer data has arrived nor the stream has reconnected.
   */
  readonly isOffline: boolean;
  /**
   * Milliseconds without a connection; 0 while connected and in the first three seconds without.
   */
  readonly awayMs: number;
  /**
   * The visitor's access; `undefined` before the first request has ended, `null` if none succeeded.
   */
  readonly access: Access | null | undefined;
  readonly freshness: DataFreshness | undefined;
  /** How many times as fast as the clock the market runs; `undefined` if unknown or about 1. */
  readonly pace: number | undefined;
  readonly cursor: string | undefined;
  /** The latest events, newest first, one for each change: channels of a flare report the same. */
  readonly events: readonly NamedEvent[];
  /** Number of changes since the page was opened or its key changed. */
  readonly changes: number;
  /**
   * Number of events since the page was opened or its key changed. The lists of events, news and
   * gaps start then too.
   */
  readonly count: number;
  /** The latest starts and ends of flares, and listings, newest first. */
  readonly news: readonly NamedEvent[];
  /** The latest gaps, with reason and maximum size, newest last. */
  readonly gaps: readonly string[];
  /** Why the server refused this page, if it did. */
  readonly refused: string | undefined;
}
