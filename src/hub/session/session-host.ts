import type { EventLog } from "../../log/event-log.ts";
import type { Plan, Seq } from "../../protocol/index.ts";
import type { BacklogFrameCache } from "../delivery/backlog-frame-cache.ts";
import type { Framing } from "../delivery/framing.ts";
import type { Group, GroupMember } from "../group.ts";
import type { Head } from "../head.ts";
import type { HubCounters } from "../hub-counters.ts";
import type { HubLimits } from "../hub-limits.ts";
import type { ListHistory } from "../lists/list-history.ts";
import type { TurnBudget } from "../turn-budget.ts";
import type { Selection } from "./selection.ts";

/** What a delivery sees of the hub. */
export interface DeliveryHost {
  readonly log: EventLog;
  readonly head: Head;
  /** The lists at the head and before, for those who filter. */
  readonly history: ListHistory;
  readonly limits: HubLimits;
  readonly tally: HubCounters;
  /** What was framed for those who were behind, for others at the same place. */
  readonly backlogFrames: BacklogFrameCache;
  /** What of each turn of the event loop catching up may take. */
  readonly turn: TurnBudget;
  /** For limits: see WallClock.monotonic. */
  monotonicMs(): number;
  /** Puts a client that was sent everything up to the head among its equals. */
  join(member: GroupMember, selection: Selection, framing: Framing, prev: Seq): Group;
  leave(member: GroupMember, group: Group): void;
}

/** What a session must be looked at for, once a second, by the hub's one timer. Sessions that are in none cost the timer nothing. */
export type Watch = "unsubscribed" | "behind" | "early" | "closing";

/** What a session sees of the hub. */
export interface SessionHost<S> extends DeliveryHost {
  /** For what clients are told. */
  wallMs(): number;
  /** The text of `hello` as it is now, to a connection of this plan. */
  hello(plan: Plan | undefined): string;
  /** Throws FlarewireError where a connection of this plan may not mirror the server now. */
  checkMirror(plan: Plan | undefined): void;
  /** The text of what a mirror needs beside the snapshot. */
  base(): string;
  watch(session: S, what: Watch, on: boolean): void;
  /** The session is over; forgets it. */
  gone(session: S): void;
  /** A fault of ours; the session is being closed for it. */
  onError(error: unknown): void;
}
