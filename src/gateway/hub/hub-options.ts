import type { Notify } from "../../base/lib/notify.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import type { Freshness, SourceInfo } from "../../base/protocol/index.ts";
import type { EventLog } from "../log/event-log.ts";
import type { Head } from "./head.ts";
import type { HubLimits } from "./hub-limits.ts";
import type { KnownLists } from "./lists/list-history.ts";

export interface HubOptions {
  readonly log: EventLog;
  readonly head: Head;
  /**
   * List history of a restored log. Without it, clients that filter items get a reset if they
   * resume from the restored head or before it.
   */
  readonly known?: KnownLists;
  readonly clock: Clock;
  /** Source description for `hello`. */
  readonly info: () => SourceInfo;
  readonly freshness: () => Freshness;
  /** Whether another server may mirror this one now. Default: always. */
  readonly mayBeMirrored?: () => boolean;
  /**
   * Whether the leader may have events that this server has not read. It decides what happens to a
   * client whose cursor is still beyond this server's head after `aheadWaitMs`. If true, the client
   * keeps its cursor: a stream is closed, and a poll gets an empty response. Otherwise the client
   * gets a reset. Default: never.
   */
  readonly mayLackEvents?: () => boolean;
  /** Overrides of `DEFAULT_HUB_LIMITS`. */
  readonly limits?: Partial<HubLimits>;
  /** Heartbeat interval in milliseconds; default 15,000. */
  readonly heartbeatMs?: number;
  /** Milliseconds of silence after which clients reconnect. Default: two heartbeats plus 5,000. */
  readonly silenceLimitMs?: number;
  /** Name and version, as in `flarewire/0.1.0`. */
  readonly serverName: string;
  /** Reports internal errors. The affected sessions are closed; the others continue. */
  readonly onError: (error: unknown) => void;
  /** Reports damaged checkpoints of the `known` lists. */
  readonly notify?: Notify;
}
