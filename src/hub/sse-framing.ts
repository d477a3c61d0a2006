import { z } from "zod";
import type { FramedEvent, Framing } from "./framing.ts";

/** What of a message becomes fields of its event. */
const Outline = z.object({ type: z.string(), cursor: z.string().optional(), lost: z.unknown().optional() });

/** The last field of `subscribed`, and by far the largest. In JSON text no string can hold this, for its quotes would be escaped. */
const SNAPSHOT = ',"snapshot":';

function outlineOf(json: string): z.infer<typeof Outline> {
  const at = json.indexOf(SNAPSHOT);
  return Outline.parse(JSON.parse(at < 0 ? json : `${json.slice(0, at)}}`));
}

function fields(name: string, id: string | undefined): string {
  return id === undefined ? `event: ${name}\ndata: ` : `event: ${name}\nid: ${id}\ndata: `;
}

/**
 * Server-sent events: the same JSON texts as over a WebSocket, each the `data` of an event that is named after the message, or after what happened
 * in the market, with the cursor as `id`. `hello` has none: it tells the head, where a client that resumes is not yet, and a
 * browser that is cut off behind it would go on from there. A `subscribed` that tells of a loss is named `reset`.
 */
export const sseFraming: Framing = {
  name: "sse",

  message(json) {
    const { type, cursor, lost } = outlineOf(json);
    const name = lost === undefined ? type : "reset";
    return Buffer.from(`${fields(name, type === "hello" ? undefined : cursor)}${json}\n\n`);
  },

  events(events: readonly FramedEvent[]) {
    // JSON text has no line breaks, so that each message is one line of data.
    const heads = events.map(({ name, cursor, head }) => fields(name, cursor) + head);
    const total = events.reduce((sum, { tail }, at) => sum + (heads[at]?.length ?? 0) + tail.length + 2, 0);
    const bytes = Buffer.allocUnsafe(total);
    let offset = 0;
    for (const [at, { tail }] of events.entries()) {
      offset += bytes.write(heads[at] ?? "", offset, "latin1");
      offset += tail.copy(bytes, offset);
      offset += bytes.write("\n\n", offset, "latin1");
    }
    return bytes;
  },
};
