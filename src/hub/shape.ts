import { encodeTail } from "../log/encode-tail.ts";
import type { LogRecord } from "../log/event-log.ts";
import { type EventName, filterEvent, type Step } from "../protocol/index.ts";
import { bitOf } from "./channel-mask.ts";
import type { Framing } from "./framing.ts";
import type { Selection } from "./selection.ts";

/** An event as a shape is sent it. */
export interface SelectedEvent {
  readonly name: EventName;
  /** See LogRecord. */
  readonly tail: Buffer;
}

/** What a session is sent, and in which form. Sessions of equal shape get the same bytes. */
export interface Shape {
  /** Equal for equal shapes. */
  readonly key: string;
  readonly selection: Selection;
  readonly framing: Framing;
  /** The event as it belongs to the shape; `undefined` when it does not. `step` is needed where the selection is filtered. */
  select(record: LogRecord, step: Step | undefined): SelectedEvent | undefined;
}

/** The shape of this selection in this framing. */
export function createShape(selection: Selection, framing: Framing): Shape {
  const { mask, parts } = selection;
  return {
    key: shapeKey(selection, framing),
    selection,
    framing,
    select(record, step) {
      const bit = bitOf(record.channel);
      if ((bit & mask) === 0) return undefined;
      const filter = parts.find((part) => part.mask & bit)?.filter;
      if (!filter?.selectsItems) return filter?.names?.has(record.name) === false ? undefined : record;
      if (!step) throw new RangeError(`event ${record.seq} has to be filtered without the lists around it`);
      const event = filterEvent(filter, step);
      if (!event || event === step.event) return event && record;
      return { name: event.name, tail: encodeTail(event) };
    },
  };
}

/** The key that such a shape has. */
export function shapeKey({ key }: Selection, framing: Framing): string {
  return `${framing.name}:${key}`;
}
