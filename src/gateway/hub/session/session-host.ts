import type { Plan, Rights, Seq } from "../../../base/protocol/index.ts";
import type { EventLog } from "../../log/event-log.ts";
import type { BacklogFrameCache } from "../delivery/backlog-frame-cache.ts";
import type { Framing } from "../delivery/framing.ts";
import type { Group, GroupMember } from "../group.ts";
import type { Head } from "../head.ts";
import type { HubCounters } from "../hub-counters.ts";
import type { HubLimits } from "../hub-limits.ts";
import type { ListHistory } from "../lists/list-history.ts";
import type { TurnBudget } from "../turn-budget.ts";
import type { Selection } from "./selection.ts";

export interface DeliveryHost {
  readonly log: EventLog;
  readonly head: Head;
  /** The lists at the head and at earlier cursors. */
  readonly history: ListHistory;
  readonly limits: HubLimits;
  readonly counters: HubCounters;
  /** Frames shared by clients that catch up from the same cursor. */
  readonly backlogFrames: BacklogFrameCache;
  /** Event-loop budget for catching up. */
  readonly turn: TurnBudget;
  /** For deadlines: see Clock.monotonic. */
  monotonicMs(): number;
  /** For times in messages, and the age of events. */
  wallMs(): number;
  /** Adds a client to its group. It must have been sent everything up to the head. */
  join(member: GroupMember, selection: Selection, framing: Framing, prev: Seq): Group;
  leave(member: GroupMember, group: Group): void;
}

/** Why the timer checks a session each second. `ahead`: its cursor is beyond the head. */
export type Watch = "unsubscribed" | "behind" | "ahead" | "closing";

export interface SessionHost<S> extends DeliveryHost {
  /** Formats the current `hello` for a connection of this plan. */
  hello(plan: Plan | undefined): string;
  /** Throws FlarewireError if a connection with these rights may not mirror the server now. */
  checkMirror(rights: Rights): void;
  /** Whether events may exist that this server has not read: see HubOptions. */
  mayLackEvents(): boolean;
  /** Formats the part of the state that a mirror needs besides the snapshot. */
  base(): string;
  watch(session: S, what: Watch, on: boolean): void;
  gone(session: S): void;
  /** Reports an internal error that closes a session. */
  onError(error: unknown): void;
}
