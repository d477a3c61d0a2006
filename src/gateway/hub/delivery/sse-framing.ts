import { z } from "zod";
import { beforeLists, type FramedEvent, type Framing } from "./framing.ts";

/** The fields of a message that determine the name and id of its server-sent event. */
const Outline = z.object({ type: z.string(), cursor: z.string().optional(), lost: z.unknown().optional() });

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
    const shared = ends.get(end) ?? Buffer.concat([end, Buffer.from("\n\n")]);
    ends.set(end, shared);
    return [Buffer.from(fieldsOf(json) + beforeLists(json)), shared];
  },

  events(events: readonly FramedEvent[]) {
    // JSON text has no line breaks, so each message is one `data` line.
    const heads = events.map(({ name, cursor, own, head }) => fields(name, cursor) + own + head);
    const total = events.reduce(
      (sum, { encoded }, at) => sum + (heads[at]?.length ?? 0) + encoded.length + 2,
      0,
    );
    const bytes = Buffer.allocUnsafe(total);
    let offset = 0;
    for (const [at, { encoded }] of events.entries()) {
      offset += bytes.write(heads[at] ?? "", offset, "latin1");
      offset += encoded.copy(bytes, offset);
      offset += bytes.write("\n\n", offset, "latin1");
    }
    return bytes;
  },
};
