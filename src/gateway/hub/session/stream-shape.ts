import { type EventName, filterEvent, type ListFilter, type Step } from "../../../base/protocol/index.ts";
import type { LogRecord } from "../../log/event-log.ts";
import { encodeBody } from "../../log/event-log.ts";
import { bitOf } from "../channel-mask.ts";
import type { Framing } from "../delivery/framing.ts";
import type { Selection } from "./selection.ts";

interface SelectedEvent {
  readonly name: EventName;
  readonly encoded: Buffer;
}

/** The events and format of a session. Sessions of equal shape get the same bytes. */
export interface StreamShape {
  readonly key: string;
  readonly selection: Selection;
  readonly framing: Framing;
  /**
   * Returns the event as this shape sends it; `undefined` if the shape does not select it. A
   * filtered shape needs `step`.
   */
  select(record: LogRecord, step: Step | undefined): SelectedEvent | undefined;
}

export function createShape(selection: Selection, framing: Framing): StreamShape {
  const { mask, parts } = selection;
  return {
    key: shapeKey(selection, framing),
    selection,
    framing,
    select(record, step) {
      const bit = bitOf(record.channel);
      if ((bit & mask) === 0n) return undefined;
      const filter = parts.find((part) => part.mask & bit)?.filter;
      if (!filter?.selectsItems) return filter?.names?.has(record.name) === false ? undefined : record;
      if (!step) throw new RangeError(`filtering event ${record.seq} requires the lists before and after it`);
      return selectOnce(filter, step, record);
    },
  };
}

/** Maximum filters cached per step. Most clients share a few. */
const MAX_CACHED_RESULTS = 16;
/** Results by filter key, cached for as long as the step. */
const results = new WeakMap<Step, Map<string, SelectedEvent | undefined>>();

function selectOnce(filter: ListFilter, step: Step, record: LogRecord): SelectedEvent | undefined {
  const cached = results.get(step) ?? new Map<string, SelectedEvent | undefined>();
  if (cached.has(filter.key)) return cached.get(filter.key);
  const event = filterEvent(filter, step);
  const changed = event && event !== step.event;
  const selected = changed ? { name: event.name, encoded: encodeBody(event) } : event && record;
  if (cached.size === 0) results.set(step, cached);
  if (cached.size < MAX_CACHED_RESULTS) cached.set(filter.key, selected);
  return selected;
}

/** Returns the key of a shape without creating it. */
export function shapeKey({ key }: Selection, framing: Framing): string {
  return `${framing.name}:${key}`;
}
