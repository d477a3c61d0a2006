import { once } from "node:events";
import { connect, createServer, Socket } from "node:net";
import { PassThrough } from "node:stream";
import { expect } from "vitest";
import { SseSocket } from "../../../../src/gateway/http/stream/sse-socket.ts";
import { sseFraming } from "../../../../src/gateway/hub/index.ts";
import { test as base } from "../../../support/time/still-running.ts";
import { createHubUnderTest, settled } from "../../hub/hub-fixture.ts";

/**
 * A stream on its own connection after the response's head. Fails if a socket remains open after
 * the test.
 */
const test = base.extend<{ sut: Awaited<ReturnType<typeof streamed>> }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a pattern.
  sut: async ({}, use) => {
    const sut = await streamed();
    await use(sut);
    sut.client.destroy();
    sut.raw.destroy();
    sut.server.close();
    // A session that the test left open closes after its grace period, on the hub's clock.
    const passing = setInterval(() => sut.clock.advance(500), 5);
    await sut.hub.close();
    clearInterval(passing);
  },
});

async function streamed() {
  const { hub, clock } = createHubUnderTest();
  const server = createServer({ allowHalfOpen: true });
  const accepted = once(server, "connection");
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  // The client may keep its half of the connection open for any time.
  const client = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  const [raw]: readonly Socket[] = await accepted;
  if (!raw) throw new Error("no connection");
  const connection = new SseSocket(raw, raw);
  const session = hub.connect(connection, sseFraming, { channels: ["newest.bsc"] });
  connection.attach(session);
  let received = "";
  client.on("data", (bytes) => {
    received += String(bytes);
  });
  return { hub, clock, server, client, raw, session, connection, received: () => received };
}

test("[S8] a stream that the server closes ends its connection, even if the client keeps its half open", async ({
  sut,
}) => {
  const { raw, client, session, received } = sut;
  session.close("draining");
  await once(client, "end");
  expect(received()).toMatch(/event: close\n[\s\S]*"reason":"draining"[\s\S]*\n\n$/);
  await expect.poll(() => raw.destroyed).toBe(true);
});

test("a client that ends its half of the connection ends its stream", async ({ sut }) => {
  const { raw, client, hub } = sut;
  client.end();
  await expect.poll(() => [raw.destroyed, hub.size]).toEqual([true, 0]);
});

test("[S8] a socket that is closed twice sends one close, and nothing after it", async ({ sut }) => {
  const { client, connection, session, received } = sut;
  session.close("draining");
  connection.close("going-away");
  expect(connection.write(Buffer.from("written later"))).toBe(true);
  await once(client, "end");
  expect(received().match(/event: close/g)).toHaveLength(1);
  expect(received()).not.toContain("written later");
});

test("[L3] a client whose connection was full several times gets every event", async () => {
  const { hub, publish, errors } = createHubUnderTest();
  // Full after each write, until the client reads.
  const [out, raw] = [new PassThrough({ highWaterMark: 1 }), new Socket()];
  const connection = new SseSocket(out, raw);
  connection.attach(hub.connect(connection, sseFraming, { channels: ["newest.bsc"] }));
  let received = "";
  const readAll = async () => {
    for (let turn = 0; turn < 20; turn++) {
      received += out.read() ?? "";
      await settled();
    }
    return received.match(/^event: token-listed$/gm)?.length ?? 0;
  };
  const counts = [await readAll()];
  for (let round = 0; round < 3; round++) {
    await publish("list");
    await publish("list", "list");
    counts.push(await readAll());
  }
  raw.destroy();
  await settled();
  await hub.close();
  expect([counts, errors]).toEqual([[0, 3, 6, 9], []]);
});
