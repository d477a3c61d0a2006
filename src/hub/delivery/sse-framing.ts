import { z } from "zod";
import { type FramedEvent, type Framing, wholeText } from "./framing.ts";

/** What of a message becomes fields of its event. */
const Outline = z.object({ type: z.string(), cursor: z.string().optional(), lost: z.unknown().optional() });

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
  transport: "sse",
  isDeflated: false,

  message(json, snapshot) {
    const { type, cursor, lost } = Outline.parse(JSON.parse(json));
    const name = lost === undefined ? type : "reset";
    return Buffer.from(
      `${fields(name, type === "hello" ? undefined : cursor)}${wholeText(json, snapshot)}\n\n`,
    );
  },

  events(events: readonly FramedEvent[]) {
    // JSON text has no line breaks, so that each message is one line of data.
    const heads = events.map(({ name, cursor, own, head }) => fields(name, cursor) + own + head);
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
