import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "vitest";
import { test } from "../../gateway/http/stream/websocket-fixture.ts";
import { IndependentClient } from "./independent-client.ts";

test("after a refused connection, `answer` is undefined instead of the previous connection's", async ({
  wire,
  onTestFinished,
}) => {
  const client = new IndependentClient(`http://127.0.0.1:${wire.port}`);
  await client.connect();
  expect(client.answer).toMatchObject({ type: "subscribed", resumed: "reset" });
  const refusing = createServer((_request, response) => response.writeHead(503).end());
  refusing.listen(0, "127.0.0.1");
  await once(refusing, "listening");
  onTestFinished(() => void refusing.close());
  client.base = `http://127.0.0.1:${(refusing.address() as AddressInfo).port}`;
  await client.connect();
  expect([client.answer, client.closeCode]).toEqual([undefined, 1006]);
});
