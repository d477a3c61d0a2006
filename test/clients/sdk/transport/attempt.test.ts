import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { startTransport, type TransportContext } from "../../../../src/clients/sdk/transport/attempt.ts";
import { type End, ended } from "../../../../src/clients/sdk/transport/end.ts";
import { platformOf } from "../../../../src/clients/sdk/transport/platform.ts";
import type { TransportMessage } from "../../../../src/clients/sdk/transport/transport.ts";

/**
 * Starts an attempt that executes `run`, and records what its listener receives. `fetch` answers
 * its requests.
 */
function open(fetch: typeof globalThis.fetch, run: (context: TransportContext) => Promise<End>) {
  const messages: TransportMessage[] = [];
  const ends: End[] = [];
  const listener = {
    onMessage: (message: TransportMessage) => void messages.push(message),
    onEnd: (end: End) => void ends.push(end),
  };
  return { connection: startTransport(platformOf({ fetch }), undefined, listener, run), messages, ends };
}

const HEARTBEAT: TransportMessage = JSON.parse('{"type":"heartbeat","cursor":"abcd-1","positions":{}}');

const PROBLEM = "application/problem+json; charset=utf-8";
const refusals: readonly (readonly [number, string, Record<string, string>, End["action"], number])[] = [
  [400, "a problem", { "content-type": PROBLEM }, "stop", 0],
  [403, "a problem", { "content-type": PROBLEM }, "stop", 0],
  [400, "a proxy's page", { "content-type": "text/html" }, "fallback", 0],
  [407, "plain JSON", {}, "fallback", 0],
  [408, "a problem", { "content-type": PROBLEM }, "backoff", 0],
  [408, "a proxy's page", { "content-type": "text/html" }, "backoff", 0],
  [429, "a problem and Retry-After", { "content-type": PROBLEM, "retry-after": "90" }, "backoff", 90_000],
  [499, "plain JSON", {}, "fallback", 0],
  [500, "plain JSON", {}, "backoff", 0],
  [503, "Retry-After", { "retry-after": "1" }, "backoff", 1_000],
];

test.for(refusals)(
  "[W26] [W3] a response %i with %s ends the attempt with the right action and wait",
  async ([status, , headers, action, minMs]) => {
    const answer = async () => Response.json({ detail: "because" }, { status, headers });
    const { ends } = open(answer, async ({ request }) => {
      await request("http://server", [200]);
      return ended("resume", "it was let in");
    });
    await turn();
    expect(ends).toMatchObject([{ action, minMs }]);
    expect(ends[0]?.reason).toBe(
      headers["content-type"] === PROBLEM ? `HTTP ${status} because` : `HTTP ${status}`,
    );
  },
);

test("an attempt that has ended aborts its request and delivers no late message", async () => {
  let body: ReadableStreamDefaultController | undefined;
  let signal: AbortSignal | null | undefined;
  const answer: typeof fetch = async (_url, init) => {
    signal = init?.signal;
    const start = (controller: ReadableStreamDefaultController) => {
      body = controller;
    };
    return new Response(new ReadableStream({ start }));
  };
  let deliver: TransportContext["deliver"] = () => {};
  const { messages, ends } = open(answer, async (context) => {
    await context.request("http://server", [200]);
    deliver = context.deliver;
    deliver(HEARTBEAT);
    return ended("resume", "close code 4200");
  });
  await turn();
  expect([ends.map(({ reason }) => reason), signal?.aborted]).toEqual([["close code 4200"], true]);
  expect(() => deliver(HEARTBEAT)).toThrow();
  expect(messages).toHaveLength(1);
  body?.close();
});

test.each([
  ["its request is cut off", undefined],
  ["its request is answered later", Response.json({})],
])("an aborted attempt reports no end when %s", async (_what, response) => {
  const answers = Promise.withResolvers<Response>();
  const { connection, ends } = open(
    () => answers.promise,
    async ({ request }) => {
      await request("http://server", [200]);
      return ended("fallback", "cut off");
    },
  );
  connection.abort();
  if (response) answers.resolve(response);
  else answers.reject(new DOMException("aborted", "AbortError"));
  await turn();
  expect(ends).toEqual([]);
});
