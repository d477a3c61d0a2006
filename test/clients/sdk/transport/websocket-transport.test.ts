import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { startTransport } from "../../../../src/clients/sdk/transport/attempt.ts";
import type { End } from "../../../../src/clients/sdk/transport/end.ts";
import { platformOf, type SocketLike } from "../../../../src/clients/sdk/transport/platform.ts";
import type { TransportMessage } from "../../../../src/clients/sdk/transport/transport.ts";
import { runWebSocket } from "../../../../src/clients/sdk/transport/websocket-transport.ts";

/** Opens a WebSocket connection with fake sockets; `fetch` answers HTTP requests. */
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
  const target = { urlOf: () => "ws://server", tickets, why: "http://server/why" };
  const connection = startTransport(platform, undefined, listener, (run) =>
    runWebSocket(run, platform, target),
  );
  return { connection, sockets, ends, messages };
}

const noFetch: typeof fetch = async (url) => {
  throw new Error(`unexpected request to ${url}`);
};

test("an aborted WebSocket is closed, and its late message and late end cause no request and no callback", async () => {
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

test("a WebSocket that ends without a message and without a server's close code requests the reason over HTTP; others do not", async () => {
  const refusal = { status: 403, headers: { "content-type": "application/problem+json" } };
  const refused = open({ fetch: async () => Response.json({ detail: "not here" }, refusal) });
  await turn();
  refused.sockets[0]?.onclose?.({ code: 1006, reason: "" });
  await turn();
  expect(refused.ends).toMatchObject([{ action: "stop", reason: "HTTP 403 not here" }]);
  const cut = open({ fetch: noFetch });
  const closed = open({ fetch: noFetch });
  await turn();
  cut.sockets[0]?.onmessage?.({ data: '{"type":"heartbeat"}' });
  cut.sockets[0]?.onclose?.({ code: 1006, reason: "" });
  closed.sockets[0]?.onclose?.({ code: 4_100, reason: "internal" });
  await turn();
  expect([cut.ends, closed.ends].flat().map(({ action }) => action)).toEqual(["fallback", "backoff"]);
});

test("[K4] a connection that is aborted while it fetches its ticket opens no WebSocket", async () => {
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
