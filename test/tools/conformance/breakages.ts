import type { Breakage, Memory, PlainAnswer } from "./broken-server.ts";
import { isObject, type JsonObject } from "./json.ts";

/** Changes the events of streams; passes other messages. */
function ofEvents(change: (event: JsonObject, memory: Memory) => readonly JsonObject[]): Breakage {
  return { message: (message, memory) => (message.type === "event" ? change(message, memory) : [message]) };
}

/** Changes the messages of one type. */
function ofType(type: string, change: (message: JsonObject) => JsonObject): Breakage {
  return { message: (message) => [message.type === type ? change(message) : message] };
}

function without(object: JsonObject, field: string): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => name !== field));
}

function withoutField(answer: PlainAnswer, field: string): PlainAnswer {
  return { ...answer, headers: { ...answer.headers, [field]: undefined } };
}

/** Sends lists whose streaks are one minute old. */
const staleSnapshots = ofType("subscribed", (message) => ({
  ...message,
  snapshot: JSON.parse(
    JSON.stringify(message.snapshot ?? null, (name, value) => (name === "streak" ? value - 1 : value)),
  ),
}));

/**
 * Omits an event after a resume and hides the gap in the next event's `prev`. It omits the first
 * event that sets fields, because later events may need inserted items, but at the latest the
 * fourth.
 */
function hiddenGap(message: JsonObject, memory: Memory): readonly JsonObject[] {
  if (message.type === "subscribed" && message.resumed === "full") memory.kept = message;
  if (message.type !== "event" || !memory.kept) return [message];
  if (memory.kept.type === "event") {
    const { prev } = memory.kept;
    memory.kept = undefined;
    return [{ ...message, prev }];
  }
  const isSet = isObject(message.data) && message.data.op === "set";
  if (!isSet && memory.events < 4) return [message];
  memory.kept = message;
  return [];
}

/** Sends a position before the response to the subscription. */
function hasty(message: JsonObject): readonly JsonObject[] {
  if (message.type !== "hello") return [message];
  const { cursor, server_time, freshness } = message;
  return [message, { type: "heartbeat", cursor, server_time, positions: {}, freshness }];
}

/** Sends each heartbeat with the client's initial cursor. */
function backward(message: JsonObject, memory: Memory): readonly JsonObject[] {
  if (message.type === "subscribed") memory.kept ??= message;
  if (message.type !== "heartbeat" || !memory.kept) return [message];
  return [{ ...message, cursor: memory.kept.cursor }];
}

/** Swaps the fourth and fifth events. */
function swap(event: JsonObject, memory: Memory): readonly JsonObject[] {
  if (memory.events === 4) {
    memory.kept = event;
    return [];
  }
  return memory.events === 5 && memory.kept ? [event, memory.kept] : [event];
}

/** Sends another event after the end of the subscription `t`, as if it were still active. */
function oneMore(message: JsonObject, memory: Memory): readonly JsonObject[] {
  if (message.type === "event") memory.kept = message;
  const { kept, ended } = memory;
  // A heartbeat with the real position would break another rule.
  if (ended && message.type === "heartbeat") return [];
  if (message.type !== "unsubscribed" || message.id !== "t" || !kept) return [message];
  memory.ended = true;
  // The position, from this message or a heartbeat, may be past the last event.
  const [epoch, position] = String(message.cursor).split("-");
  const seq = Math.max(Number(kept.seq), Number(position));
  const fields = { cursor: `${epoch}-${seq + 1}`, seq: seq + 1, prev: seq, batch: seq + 1 };
  const status = { name: "source-status", channel: "status", data: { state: "live", reason: "" } };
  return [message, { ...kept, ...fields, ...status }];
}

/** Returns the address without these parameters. */
function withoutParameters(path: string, names: RegExp): string {
  return path.replace(names, (field) => (field.startsWith("?") ? "?" : ""));
}

const FILTER = /[?&](tokens|symbols|min_liquidity|min_price_change|min_age|min_locked|sticky|names)=[^&]*/g;

/** Faults of a server, each with the rule that it breaks. */
export const BREAKAGES: Readonly<Record<string, readonly [rule: string, breakage: Breakage]>> = {
  "drops an event": ["W13", ofEvents((event, { events }) => (events % 4 === 0 ? [] : [event]))],
  "sends an event twice": ["W13", ofEvents((event, { events }) => (events === 4 ? [event, event] : [event]))],
  "sends two events in the wrong order": ["W13", ofEvents(swap)],
  "sends a prev of 0": ["W15", ofEvents((event) => [{ ...event, prev: 0 }])],
  "sends a prev before an event that it did not omit": [
    "W15",
    ofEvents((event, { events }) => [{ ...event, prev: Number(event.prev) + (events === 4 ? 1 : 0) }]),
  ],
  "sends snapshots that are older than their cursor": ["W8", staleSnapshots],
  "drops a part of a snapshot": [
    "W46",
    {
      message: (message, memory) => {
        if (message.type !== "part" || memory.kept) return [message];
        memory.kept = message;
        return [];
      },
    },
  ],
  "claims a full resume, with a hole that prev hides": ["W9", { message: hiddenGap }],
  "resets without stating what is lost": ["W9", ofType("subscribed", (message) => without(message, "lost"))],
  "omits fields from its changes": [
    "applying-events",
    ofEvents((event) => {
      const { data } = event;
      return [isObject(data) && data.op === "set" ? { ...event, data: { ...data, set: {} } } : event];
    }),
  ],
  "does not state when candles closed": [
    "W43",
    ofEvents((event) => {
      const { data } = event;
      const isCandles = event.name === "candles-closed" && isObject(data);
      return [isCandles ? { ...event, data: without(data, "closed_at") } : event];
    }),
  ],
  "never changes its ETags": [
    "rest/etag",
    {
      answer: (answer) =>
        answer.headers.etag ? { ...answer, headers: { ...answer.headers, etag: '"one"' } } : answer,
    },
  ],
  "answers 304 after every change": [
    "rest/etag",
    {
      answer: (answer, { headers }) =>
        headers["if-none-match"] === undefined ? answer : { ...answer, status: 304, body: "" },
    },
  ],
  "sends heartbeats without positions": [
    "W16",
    ofType("heartbeat", (message) => ({ ...message, positions: {} })),
  ],
  "sends a heartbeat before its response": ["W14", { message: hasty }],
  "moves clients back with heartbeats": ["W14", { message: backward }],
  "closes with the wrong code": ["W19", { closeCode: (code) => (code === 4001 ? 1009 : code) }],
  "ignores filters": [
    "W27",
    {
      address: (path) => withoutParameters(path, FILTER),
      command: (text) => text.replace(/,"filter":\{[^}]*\}/, ""),
    },
  ],
  "does not state the active filter": ["W27", ofType("subscribed", (message) => without(message, "filter"))],
  "ignores unknown parameters": [
    "W6",
    { address: (path) => withoutParameters(path, /[?&]min_pricechange=[^&]*/g) },
  ],
  "responds without the id": [
    "W5",
    { message: (message) => [message.type === "pong" ? without(message, "id") : message] },
  ],
  "omits its limits": ["W4", ofType("hello", (message) => without(message, "limits"))],
  "streams events without ids": ["S3", { id: () => undefined }],
  "ignores Last-Event-ID": ["S4", { fields: ({ "last-event-id": _id, ...others }) => others }],
  "ends a wait without a cursor": [
    "P5",
    { answer: (answer) => (answer.status === 204 ? withoutField(answer, "flarewire-cursor") : answer) },
  ],
  "returns 410 without stating what is lost": [
    "P6",
    {
      answer: (answer) =>
        answer.status === 410
          ? { ...answer, body: JSON.stringify(without(JSON.parse(answer.body), "lost")) }
          : answer,
    },
  ],
  "refuses methods without an Allow header": [
    "rest/methods",
    { answer: (answer) => (answer.status === 405 ? withoutField(answer, "allow") : answer) },
  ],
  "continues a channel after its last subscription has ended": ["W12", { message: oneMore }],
  "reports a client that is too fast under the wrong code": [
    "W20",
    ofType("error", (message) =>
      message.code === "rate-limited" ? { ...message, code: "internal" } : message,
    ),
  ],
  "ignores client ids": ["W32", { address: (path) => withoutParameters(path, /[?&]client=[^&]*/g) }],
  "ends streams without a reason": [
    "S8",
    { message: (message) => (message.type === "close" ? [] : [message]) },
  ],
  "does not link to the next page": ["P2", { answer: (answer) => withoutField(answer, "link") }],
  "omits batches": [
    "F1",
    { answer: (answer) => ({ ...answer, body: answer.body.replace(/"batch":\d+/g, '"batch":0') }) },
  ],
  "sends a mirror no base": ["F2", ofType("subscribed", (message) => without(message, "base"))],
  "accepts keys in the query": [
    "K5",
    { address: (path) => withoutParameters(path, /[?&](key|api_key|apikey|access_token)=[^&]*/g) },
  ],
};

/** Changes the data of surges. */
function ofSurges(change: (data: JsonObject) => JsonObject): Breakage {
  return ofEvents((event) => {
    const { name, data } = event;
    return [name === "flare-surged" && isObject(data) ? { ...event, data: change(data) } : event];
  });
}

/** Faults of a server whose flares surge. */
export const SURGE_BREAKAGES: typeof BREAKAGES = {
  "sends another surge than the explanation's": [
    "W45",
    ofSurges((data) => ({ ...data, surge: isObject(data.surge) ? { ...data.surge, price: "1" } : null })),
  ],
  "sends surges without the flare": ["W45", ofSurges((data) => without(data, "flare"))],
  "sends updates instead of surges": [
    "W45",
    ofEvents((event) => [event.name === "flare-surged" ? { ...event, name: "flare-updated" } : event]),
  ],
};

/** Faults of a server with keys, tested with a key. */
export const KEYED_BREAKAGES: typeof BREAKAGES = {
  "treats an unknown key as anonymous": [
    "K1",
    {
      fields: ({ authorization, ...others }) =>
        authorization === undefined || authorization.includes("conformance")
          ? others
          : { authorization, ...others },
    },
  ],
  "does not state the plan": ["K2", ofType("hello", (message) => without(message, "plan"))],
  "lets caches mix plans": ["K3", { answer: (answer) => withoutField(answer, "vary") }],
  "ignores tickets": ["K4", { address: (path) => withoutParameters(path, /[?&]ticket=[^&]*/g) }],
};
