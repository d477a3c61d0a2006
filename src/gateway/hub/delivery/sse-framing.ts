import { z } from "zod";
import { beforeLists, type FramedEvent, type Framing } from "./framing.ts";

/** The fields of a message that determine the name and id of its server-sent event. */
const Outline = z.object({ type: z.string(), cursor: z.string().optional(), lost: z.unknown().optional() });

/** The end of a server-sent event. */
const END = Buffer.from("\n\n");

/** The ends of messages with lists, each with the end of the server-sent event. */
const ends = new WeakMap<Buffer, Buffer>();

function fieldsOf(json: string): string {
  const { type, cursor, lost } = Outline.parse(JSON.parse(json));
  return fields(lost === undefined ? type : "reset", type === "hello" ? undefined : cursor);
}

function fields(name: string, id: string | undefined): string {
  return id === undefined ? `event: ${name}\ndata: ` : `event: ${name}\nid: ${id}\ndata: `;
}

/**
 * Frames messages as server-sent events, with the cursor as `id`. They are named after the message
 * type or, for an event, the event's name. `hello` has no id: its cursor is the head, and a browser
 * that resumed from it would skip events. A `subscribed` that reports a loss is named `reset`.
 */
export const sseFraming: Framing = {
  name: "sse",
  transport: "sse",
  isDeflated: false,

  message: (json) => Buffer.from(`${fieldsOf(json)}${json}\n\n`),

  withLists(json, end) {
    const shared = ends.get(end) ?? Buffer.concat([end, END]);
    ends.set(end, shared);
    return [Buffer.from(fieldsOf(json) + beforeLists(json)), shared];
  },

  events(events: readonly FramedEvent[]) {
    // JSON text has no line breaks, so each message is one `data` line.
    const parts = events.flatMap(({ name, cursor, own, head, encoded }) => [
      Buffer.from(fields(name, cursor) + own + head, "latin1"),
      ...[encoded, END],
    ]);
    return Buffer.concat(parts);
  },
};
