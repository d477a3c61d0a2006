import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect } from "vitest";
import { allowAll, ConnectionLimiter, ConnectionRegistry } from "../../../../src/gateway/http/index.ts";
import { handshake, test } from "../stream/websocket-fixture.ts";

const STREAM = "GET /api/v1/events HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\n\r\n";

for (const [transport, rawRequest] of [
  ["a WebSocket", handshake("/api/v1/stream?channels=*")],
  ["a stream", STREAM],
] as const) {
  test(`${transport} that ends while its ticket is checked takes no slot`, async ({ makeWire }) => {
    const registry = new ConnectionRegistry(new ConnectionLimiter(9, 9));
    const asking = Promise.withResolvers<Socket>();
    const known = Promise.withResolvers<void>();
    const policy = {
      ...allowAll,
      isKeyed: false,
      admitStream: async (...[request, reply]: Parameters<typeof allowAll.admitStream>) => {
        asking.resolve(request.raw.socket);
        await known.promise;
        return allowAll.admitStream(request, reply);
      },
    };
    const wire = await makeWire({ stream: { policy, registry }, http: { trustProxy: true } });
    const client = connect(wire.port, "127.0.0.1");
    // After a connection has closed, only a proxy's field still has the client's address.
    client.write(rawRequest.replace("\r\n", "\r\nX-Forwarded-For: 192.0.2.1\r\n"));
    const socket = await asking.promise;
    const closed = once(socket, "close");
    client.resetAndDestroy();
    // Destroyed as by a time limit or a proxy's reset. Nothing reads it meanwhile.
    socket.destroy();
    await closed;
    known.resolve();
    const next = wire.client("?channels=status");
    await next.answer("subscribed");
    expect(registry.limiter.taken).toBe(1);
    next.ws.close();
    await next.ended;
  });
}
