import type { EventName } from "../protocol/event.ts";
import type { EventMessage, Subscribed } from "../protocol/messages.ts";
import { applyEvent, type View } from "../protocol/view/view.ts";
import { ended } from "./transport/end.ts";

/** An event as it came, told apart by `name`. */
export type StreamEvent<N extends EventName = EventName> = Extract<EventMessage, { name: N }>;

/** What was known is void; what there is now is `view`. The first thing that a stream tells, and told again whenever events are lost. */
export interface Reset {
  readonly name: "reset";
  /**
   * `started`: the beginning, or that of a reader; `epoch-changed`, `expired`, `ahead`: the server cannot resume from the cursor;
   * `mismatch`: an event did not fit the view, which was fetched anew.
   */
  readonly reason: "started" | "epoch-changed" | "expired" | "ahead" | "mismatch";
  /** How many events were missed at most; `null`: nobody can know. 0 at the start. */
  readonly lost: number | null;
  readonly cursor: string;
  /** The lists at `cursor`; `undefined` where none are kept. */
  readonly view: View | undefined;
}

/** What a stream tells, in order. */
export type StreamItem = StreamEvent | Reset;

/** What a client holds: its place, and the lists there. */
export interface Holding {
  /** `undefined` before the first answer, and after a mismatch. */
  readonly cursor: string | undefined;
  /** `undefined` where none is kept, and before the first answer. */
  readonly view: View | undefined;
  /** An answer came, so that one without a cursor is no beginning any more. */
  readonly started: boolean;
}

/** What is held then, and what to tell; `item` is left out where there is nothing. */
export interface Taken {
  readonly holding: Holding;
  readonly item?: StreamItem;
}

/** Takes in the answer to a subscription. */
export function takeAnswer(holding: Holding, { cursor, lost, resumed, snapshot }: Subscribed): Taken {
  if (resumed === "full") return { holding: { ...holding, started: true } };
  const view = snapshot as View | undefined;
  const { reason, events } =
    lost ??
    (holding.started
      ? { reason: "mismatch" as const, events: null }
      : { reason: "started" as const, events: 0 });
  return {
    holding: { cursor, view, started: true },
    item: { name: "reset", reason, lost: events, cursor, view },
  };
}

/**
 * Takes in an event. One that is held already tells nothing. Throws an {@link End} when something is missing before it, which is healed by
 * connecting again with the cursor, and something else when it does not fit the lists; `holding` is then what is held still.
 */
export function takeEvent(holding: Holding, event: EventMessage): Taken {
  const seq = seqOf(holding, event.cursor);
  if (event.seq <= seq) return { holding };
  if (!(event.prev <= seq)) throw ended("backoff", `a hole before ${event.cursor}`);
  return {
    holding: { ...holding, cursor: event.cursor, view: holding.view && applyEvent(holding.view, event) },
    item: event,
  };
}

/** Moves to a place of which the server says that everything up to it was sent. Never back: a line that takes over from another may be behind it. */
export function moveTo(holding: Holding, cursor: string): Holding {
  const seq = seqOf(holding, cursor);
  return placeIn(cursor).seq > seq ? { ...holding, cursor } : holding;
}

/** The seq that is held. Throws an {@link End} where `cursor` is of another epoch. */
function seqOf(holding: Holding, cursor: string): number {
  const { epoch, seq } = placeIn(`${holding.cursor}`);
  if (epoch !== placeIn(cursor).epoch) throw ended("backoff", `${cursor} does not follow ${holding.cursor}`);
  return seq;
}

/** What a cursor says; the server made it. */
function placeIn(cursor: string) {
  const [epoch, seq = 0] = cursor.split("-");
  return { epoch, seq: Number(seq) };
}
