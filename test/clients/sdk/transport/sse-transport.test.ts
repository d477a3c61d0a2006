import fc from "fast-check";
import { expect, test } from "vitest";
import { ended } from "../../../../src/clients/sdk/transport/end.ts";
import { runSse } from "../../../../src/clients/sdk/transport/sse-transport.ts";
import type { TransportMessage } from "../../../../src/clients/sdk/transport/transport.ts";

/** Reads the text in chunks of these sizes; returns the messages and the end. */
async function read(text: string, sizes: readonly number[]) {
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  let piece = 0;
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      const size = sizes[piece++ % sizes.length] ?? bytes.length;
      controller.enqueue(bytes.slice(at, at + size));
      at += size;
      if (at >= bytes.length) controller.close();
    },
  });
  const received: TransportMessage[] = [];
  const end = await runSse(
    {
      request: async () => new Response(body),
      deliver: (message) => void received.push(message),
      signal: new AbortController().signal,
    },
    "http://server",
  );
  return { received, end };
}

const message = (name: string) => ({ type: "weather", name });
const frame = (data: object) => `event: x\nid: abcd-1\ndata: ${JSON.stringify(data)}\n\n`;

test("[S3] however a stream is split into chunks, each message is received once and complete", async () => {
  const names = fc.array(fc.string({ unit: "grapheme" }), { maxLength: 8 });
  const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 10 });
  await fc.assert(
    fc.asyncProperty(names, sizes, async (all, pieces) => {
      const { received, end } = await read(all.map((name) => frame(message(name))).join(""), pieces);
      expect(received).toEqual(all.map(message));
      expect(end).toEqual(ended("fallback", "cut off"));
    }),
    { numRuns: 100 },
  );
});

test("[S8] a close message ends the stream with the action of its code, and no later message is received", async () => {
  const close = { type: "close", code: 4_200, reason: "draining" };
  const { received, end } = await read([message("a"), close, message("b")].map(frame).join(""), [17]);
  expect([received, end.action, end.reason]).toEqual([[message("a")], "resume", "close code 4200 draining"]);
});
