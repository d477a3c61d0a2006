import { encodeTail } from "../../log/encode-tail.ts";
import type { LogRecord } from "../../log/event-log.ts";
import { type EventName, filterEvent, type ListFilter, type Step } from "../../protocol/index.ts";
import { bitOf } from "../channel-mask.ts";
import type { Framing } from "../delivery/framing.ts";
import type { Selection } from "./selection.ts";

/** An event as a shape is sent it. */
export interface SelectedEvent {
  readonly name: EventName;
  /** See LogRecord. */
  readonly tail: Buffer;
}

/** What a session is sent, and in which form. Sessions of equal shape get the same bytes. */
export interface StreamShape {
  /** Equal for equal shapes. */
  readonly key: string;
  readonly selection: Selection;
  readonly framing: Framing;
  /** The event as it belongs to the shape; `undefined` when it does not. `step` is needed where the selection is filtered. */
  select(record: LogRecord, step: Step | undefined): SelectedEvent | undefined;
}

/** The shape of this selection in this framing. */
export function createShape(selection: Selection, framing: Framing): StreamShape {
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
      return selectOnce(filter, step, record);
    },
  };
}

/** Of how many filters the outcome is held for a step: enough for the herds, which ask for the same. */
const HELD_OUTCOMES = 16;
/** What filters made of steps, by the filter's key, for as long as the step is held. */
const outcomes = new WeakMap<Step, Map<string, SelectedEvent | undefined>>();

function selectOnce(filter: ListFilter, step: Step, record: LogRecord): SelectedEvent | undefined {
  const held = outcomes.get(step) ?? new Map<string, SelectedEvent | undefined>();
  if (held.has(filter.key)) return held.get(filter.key);
  const event = filterEvent(filter, step);
  const changed = event && event !== step.event;
  const selected = changed ? { name: event.name, tail: encodeTail(event) } : event && record;
  if (held.size === 0) outcomes.set(step, held);
  if (held.size < HELD_OUTCOMES) held.set(filter.key, selected);
  return selected;
}

/** The key that such a shape has. */
export function shapeKey({ key }: Selection, framing: Framing): string {
  return `${framing.name}:${key}`;
}
