import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { startTransport } from "../../../src/client/transport/attempt.ts";
import type { End } from "../../../src/client/transport/end.ts";
import { platformOf, type SocketLike } from "../../../src/client/transport/platform.ts";
import type { TransportMessage } from "../../../src/client/transport/transport.ts";
import { runWebSocket } from "../../../src/client/transport/websocket-transport.ts";

/** A WebSocket connection whose server, over HTTP too, is the test. */
function open({ tickets, fetch }: { readonly tickets?: string; readonly fetch: typeof globalThis.fetch }) {
  const sockets: FakeSocket[] = [];
  const [ends, messages]: [End[], TransportMessage[]] = [[], []];
  class FakeSocket implements SocketLike {
    onmessage: SocketLike["onmessage"] = null;
    onclose: SocketLike["onclose"] = null;
    onerror: SocketLike["onerror"] = null;
    closes = 0;

    constructor() {
      sockets.push(this);
    }

    close(): void {
      this.closes += 1;
    }
  }
  const platform = platformOf({ WebSocket: FakeSocket, fetch });
  const listener = {
    onMessage: (message: TransportMessage) => void messages.push(message),
    onEnd: (end: End) => void ends.push(end),
  };
  const place = { urlOf: () => "ws://server", tickets, why: "http://server/why" };
  const connection = startTransport(platform, undefined, listener, (run) =>
    runWebSocket(run, platform, place),
  );
  return { connection, sockets, ends, messages };
}

const unasked: typeof fetch = async (url) => {
  throw new Error(`${url} was asked`);
};

test("a WebSocket that was left is closed, and its late messages and its late end cause no request and no callback", async () => {
  const asked: string[] = [];
  const { connection, sockets, ends, messages } = open({
    fetch: async (url) => {
      asked.push(`${url}`);
      return Response.json({});
    },
  });
  await turn();
  connection.abort();
  expect(sockets.map(({ closes }) => closes)).toEqual([1]);
  sockets[0]?.onmessage?.({ data: '{"type":"heartbeat"}' });
  sockets[0]?.onclose?.({ code: 1006, reason: "" });
  await turn();
  expect([asked, ends, messages, sockets[0]?.closes]).toEqual([[], [], [], 1]);
});

test("a WebSocket that ends without a message or a close code of the server asks over HTTP for the reason; others do not", async () => {
  const refusal = { status: 403, headers: { "content-type": "application/problem+json" } };
  const refused = open({ fetch: async () => Response.json({ detail: "not here" }, refusal) });
  await turn();
  refused.sockets[0]?.onclose?.({ code: 1006, reason: "" });
  await turn();
  expect(refused.ends).toMatchObject([{ action: "stop", reason: "HTTP 403 not here" }]);
  const cut = open({ fetch: unasked });
  const closed = open({ fetch: unasked });
  await turn();
  cut.sockets[0]?.onmessage?.({ data: '{"type":"heartbeat"}' });
  cut.sockets[0]?.onclose?.({ code: 1006, reason: "" });
  closed.sockets[0]?.onclose?.({ code: 4_100, reason: "internal" });
  await turn();
  expect([cut.ends, closed.ends].flat().map(({ action }) => action)).toEqual(["fallback", "backoff"]);
});

test("[K4] a connection that is left while it fetches its ticket opens no WebSocket", async () => {
  const answers = Promise.withResolvers<Response>();
  const { connection, sockets, ends } = open({
    tickets: "http://server/tickets",
    fetch: () => answers.promise,
  });
  await turn();
  connection.abort();
  answers.resolve(Response.json({ ticket: "once" }, { status: 201 }));
  await turn();
  expect([sockets, ends]).toEqual([[], []]);
});
