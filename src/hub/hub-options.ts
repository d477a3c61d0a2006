import type { Clock } from "../lib/time/clock.ts";
import type { EventLog } from "../log/event-log.ts";
import type { Freshness, SourceInfo } from "../protocol/index.ts";
import type { Head } from "./head.ts";
import type { HubLimits } from "./hub-limits.ts";
import type { KnownLists } from "./lists/list-history.ts";

/** What a hub is made of. */
export interface HubOptions {
  readonly log: EventLog;
  readonly head: Head;
  /** What is known of a log that was kept, so that filters go on in it as well. Default: nothing, so that they begin anew. */
  readonly known?: KnownLists;
  readonly clock: Clock;
  /** What `hello` says of the source. */
  readonly info: () => SourceInfo;
  readonly freshness: () => Freshness;
  /** Whether another server may begin to mirror this one now; default: always. */
  readonly mayBeMirrored?: () => boolean;
  /** See HubLimits; what is left out has its default. */
  readonly limits?: Partial<HubLimits>;
  /** Time between heartbeats; default 15,000. */
  readonly heartbeatMs?: number;
  /** What clients are told to bear in silence before they reconnect; default two heartbeats and 5 seconds: 35,000. */
  readonly silenceLimitMs?: number;
  /** Name and version, as in `flarewire/0.1.0`. */
  readonly serverName: string;
  /** Told of faults of ours; the session concerned is closed, the others go on. */
  readonly onError: (error: unknown) => void;
}
