import { keyOf } from "../../../../src/base/model/index.ts";
import {
  applyEvent,
  type Change,
  changesOf,
  type EventBody,
  type ListChannel,
  listOf,
  type View,
} from "../../../../src/base/protocol/index.ts";
import {
  createDeflateFraming,
  createHubCounters,
  type FramedEvent,
  type Framing,
  websocketFraming,
} from "../../../../src/gateway/hub/index.ts";
import { encodeBody } from "../../../../src/gateway/log/event-log.ts";
import { makeMarket } from "../harness/make-market.ts";
import type { Row } from "../report.ts";

/** Returns an event with its cursor, as the gateway frames it. */
function framed(body: EventBody, seq: number): FramedEvent {
  const cursor = `0123456789abcdef-${seq}`;
  return {
    ...{ cursor, name: body.name, own: `{"type":"event","prev":${seq - 1}` },
    head: `,"cursor":"${cursor}","seq":${seq},"batch":${seq},"emitted_at":"2026-11-21T08:00:00.000Z",`,
    ...{ encoded: encodeBody(body), isCommon: true },
  };
}

/** Returns the event with whole items instead of the fields that were set. */
function withWholeItems(body: EventBody, after: View): EventBody {
  const whole = (change: Change) => {
    if (change.op !== "set") return change;
    const items = listOf(after, body.channel as ListChannel);
    return { op: "set", id: change.id, item: items.find((item) => keyOf(item) === change.id) };
  };
  const { data } = body;
  if ("changes" in data)
    return { ...body, data: { ...data, changes: changesOf(body).map(whole) } } as EventBody;
  if (!("op" in data) || data.op !== "set") return body;
  const { set: _fields, ...rest } = data;
  return { ...body, data: { ...rest, ...whole(data as Change) } } as EventBody;
}

/**
 * Measures the mean bytes of an event on the wire, including the frame, over an hour of the
 * simulated market: in each form, with set fields and with whole items.
 */
export function benchSizes(minutes: number): Row[] {
  const { base, batches } = makeMarket(minutes);
  const framings: readonly (readonly [string, Framing])[] = [
    ["plain", websocketFraming],
    ["compressed", createDeflateFraming(createHubCounters())],
  ];
  const bytes = new Map<string, number>();
  const add = (what: string, body: EventBody, seq: number) => {
    for (const [form, framing] of framings) {
      const key = `${what}, ${form}`;
      bytes.set(key, (bytes.get(key) ?? 0) + framing.events([framed(body, seq)]).length);
    }
  };
  let view: View = base;
  let seq = 10_000;
  // The last batch is not the market's: it returns to the beginning.
  for (const body of batches.slice(0, -1).flat()) {
    seq += 1;
    view = applyEvent(view, body);
    add("fields that were set", body, seq);
    add("whole items", withWholeItems(body, view), seq);
  }
  const first = [...bytes.values()][0] ?? Number.NaN;
  const rows = [...bytes].map(([what, total]) => ({
    ...{ what: `an event of the simulated market: ${what}`, value: total / (seq - 10_000), unit: "bytes" },
    aim: `${((total / first) * 100).toFixed(0)} % of fields, plain`,
  }));
  return [...rows, ...snapshotRows(view, framings)];
}

function snapshotRows(view: View, framings: readonly (readonly [string, Framing])[]): Row[] {
  const [json, lists] = ['{"type":"subscribed"}', Buffer.from(`${JSON.stringify(view)}}`)];
  const rows = framings.map(([form, framing]) => ({
    ...{
      what: `its snapshot: ${form}`,
      value: Buffer.concat(framing.withLists(json, lists)).length,
      unit: "bytes",
    },
    aim: "",
  }));
  const times = Array.from({ length: 15 }, () => {
    const fresh = createDeflateFraming(createHubCounters());
    const began = performance.now();
    fresh.withLists(json, lists);
    return performance.now() - began;
  });
  const ms = times.toSorted((a, b) => a - b)[7] ?? Number.NaN;
  return [...rows, { what: "compressing it, once for each state", value: ms, unit: "ms", aim: "< 4" }];
}
