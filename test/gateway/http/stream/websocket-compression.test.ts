import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { connect, type NetConnectOpts, type Socket } from "node:net";
import zlib from "node:zlib";
import { expect, vi } from "vitest";
import type { ClientOptions } from "ws";
import { readServerFrames, type ServerFrame, textsOf } from "../../../support/clients/server-frames.ts";
import type { Step } from "../../hub/test-market.ts";
import {
  type ConnectionHandle,
  HANDSHAKE,
  compressedTest as test,
  type WireClient,
} from "./websocket-fixture.ts";

const EXTENSION = "permessage-deflate; server_no_context_takeover; client_no_context_takeover";
const STEPS: readonly Step[] = ["list", "flare", "refresh", "unlist", "status"];

/**
 * Returns options for a client whose received bytes are recorded, and the recorded bytes after the
 * handshake.
 */
function tapped(options: ClientOptions = {}) {
  const chunks: Buffer[] = [];
  const createConnection = ((address: NetConnectOpts) =>
    connect(address).on("data", (chunk) => chunks.push(Buffer.from(chunk)))) as typeof connect;
  return {
    options: { ...options, createConnection },
    frames: () => {
      const bytes = Buffer.concat(chunks);
      return readServerFrames(bytes.subarray(bytes.indexOf("\r\n\r\n") + 4));
    },
  };
}

const bytesOf = (frames: readonly ServerFrame[]) => frames.reduce((sum, { bytes }) => sum + bytes, 0);

async function follow(wire: ConnectionHandle, clients: readonly WireClient[], polls: number): Promise<void> {
  for (let poll = 0; poll < polls; poll++) await wire.publish(...STEPS);
  const { seq } = wire.head.cursor;
  for (const client of clients) await client.until(() => client.seqs.at(-1) === seq);
}

test("[W37] a client that offers compression gets compressed frames with exactly the messages that others get plain", async ({
  wire,
}) => {
  await wire.publish(...STEPS, ...STEPS);
  const [compressed, uncompressed] = [tapped(), tapped({ perMessageDeflate: false })];
  const deflated = wire.client("?channels=*", [], compressed.options);
  const plain = wire.client("?channels=*", [], uncompressed.options);
  for (const client of [deflated, plain]) await client.answer("subscribed");
  expect([deflated.ws.extensions, plain.ws.extensions]).toEqual(["permessage-deflate", ""]);
  await follow(wire, [deflated, plain], 20);
  const withoutTime = (client: WireClient) => client.messages.filter(({ type }) => type !== "hello");
  expect(withoutTime(deflated)).toEqual(withoutTime(plain));
  expect(deflated.messages.length).toBe(102);

  const [frames, others] = [compressed.frames(), uncompressed.frames()];
  expect(textsOf(frames).slice(1)).toEqual(textsOf(others).slice(1));
  expect(others.some(({ isDeflated }) => isDeflated)).toBe(false);
  const kinds = frames.map(({ payload, isDeflated }) => [JSON.parse(`${payload}`).type, isDeflated]);
  expect(kinds.slice(0, 2)).toEqual([
    ["hello", false],
    ["subscribed", true],
  ]);
  expect(kinds.filter(([type, isDeflated]) => type === "event" && isDeflated).length).toBe(60);
  expect(bytesOf(frames)).toBeLessThan(0.7 * bytesOf(others));
  expect(wire.hub.counters).toMatchObject({ openDeflated: 1, open: { websocket: 2 } });
});

test("[W37] [L6] readers of several shapes, and reconnecting ones, share data that was compressed once", async ({
  wire,
}) => {
  const queries = ["?channels=*", "?channels=newest.*,flares.*", "?channels=flares.pro,newest.bsc,status"];
  const clients = [...queries, ...queries].map((query) => wire.client(query));
  for (const client of clients) await client.answer("subscribed");
  await wire.publish("list", "flare", "list");
  for (const client of clients) await client.until(() => client.seqs.length === 3);
  expect(wire.hub.counters.deflatedTexts).toBe(3);
  const late = queries.map((query) => wire.client(`${query}&after=test1-0`));
  for (const client of late) await client.until(() => client.seqs.length === 3);
  expect(wire.hub.counters.deflatedTexts).toBe(3);
  const fresh = [1, 2, 3].map(() => wire.client("?channels=*"));
  for (const client of fresh) await client.answer("subscribed");
  expect(wire.hub.counters.deflatedTexts).toBe(4);
});

test("[W37] compressed commands are read in order", async ({ wire }) => {
  const client = wire.client("", [], { perMessageDeflate: { threshold: 0 } });
  await client.answer("hello");
  const id = "long enough to be compressed well ".repeat(2).trim().slice(0, 64);
  client.send({ type: "subscribe", id, channels: ["newest.bsc"] });
  for (let count = 0; count < 10; count++) client.send({ type: "ping", id: `${id.slice(0, 60)}-${count}` });
  client.ws.send(`{"type":"unsubscribe","id":"${id}"}`, { compress: false });
  await client.answer("unsubscribed", id);
  expect(client.messages.slice(1).map((message) => message.type)).toEqual([
    "subscribed",
    ...Array.from({ length: 10 }, () => "pong"),
    "unsubscribed",
  ]);
});

test("[W37] the library's pongs and close frames are sent between, not inside, compressed frames", async ({
  wire,
}) => {
  const client = wire.client("?channels=newest.bsc", [], { perMessageDeflate: { threshold: 0 } });
  await client.answer("subscribed");
  let pongs = 0;
  client.ws.on("pong", () => {
    pongs += 1;
  });
  for (let poll = 0; poll < 100; poll++) {
    client.ws.ping("x".repeat(poll % 120));
    if (poll % 10 === 0) client.send({ type: "ping", id: poll });
    await wire.publish("list", "list", "list");
    if (poll % 20 === 19) await once(client.ws, "pong");
  }
  while (pongs < 100) await once(client.ws, "pong");
  await client.until(() => client.seqs.length === 300);
  await client.answer("pong", 90);
  client.ws.close(1000);
  await client.ended;
  expect(client.errors).toEqual([]);
  expect(client.seqs).toEqual(Array.from({ length: 300 }, (_, index) => index + 1));
});

test("[W37] with compression turned off, nothing is compressed, even if a client offers it", async ({
  makeWire,
}) => {
  const wire = await makeWire({ stream: { compression: false } });
  const tap = tapped();
  const client = wire.client("?channels=*", [], tap.options);
  await client.answer("subscribed");
  await follow(wire, [client], 3);
  expect(client.ws.extensions).toBe("");
  expect(tap.frames().some(({ isDeflated }) => isDeflated)).toBe(false);
  expect(wire.hub.counters.deflatedTexts).toBe(0);
});

test("[W37] the response states the negotiated compression; an offer that cannot be met is declined without a rejection", async ({
  wire,
}) => {
  const offers = {
    "permessage-deflate; client_max_window_bits": `${EXTENSION}; client_max_window_bits=12`,
    "permessage-deflate; server_max_window_bits=13": `${EXTENSION}; server_max_window_bits=12`,
    "permessage-deflate; server_max_window_bits=9": undefined,
    "permessage-deflate; x, mux": undefined,
  };
  for (const [offer, accepted] of Object.entries(offers)) {
    const { answer, socket } = await offering(wire, offer);
    expect(answer.headers["sec-websocket-extensions"]).toBe(accepted);
    socket.destroy();
  }
  const { message, body } = await wire.ask("/api/v1/stream", {
    ...HANDSHAKE,
    "sec-websocket-extensions": "permessage-deflate; =",
  });
  expect([message.statusCode, JSON.parse(body)]).toMatchObject([
    400,
    { type: expect.stringContaining("invalid-parameter"), field: "Sec-WebSocket-Extensions" },
  ]);
  await wire.sessions(0);
});

test("[L5] [W37] no connection keeps its inflater, and none has a deflater", async ({ wire }) => {
  const inflating = vi.spyOn(zlib, "createInflateRaw");
  const deflating = vi.spyOn(zlib, "createDeflateRaw");
  const opened = await Promise.all(Array.from({ length: 20 }, () => offering(wire, EXTENSION)));
  const sockets = opened.map(({ socket }) => socket);
  const text = JSON.stringify({ type: "subscribe", id: "a", channels: ["*"] });
  const command = zlib.deflateRawSync(text, { finishFlush: zlib.constants.Z_SYNC_FLUSH }).subarray(0, -4);
  for (const socket of sockets) socket.write(maskedFrame(0xc1, command));
  for (const socket of sockets) while (!`${(await once(socket, "data"))[0]}`.includes("subscribed"));
  await wire.publish(...STEPS);
  expect(inflating.mock.results.length).toBe(20);
  for (const { value } of inflating.mock.results) await vi.waitUntil(() => value.destroyed);
  expect(deflating).not.toHaveBeenCalled();
  vi.restoreAllMocks();
  for (const socket of sockets) socket.destroy();
  await wire.sessions(0);
});

/** Opens a connection with this offer, whose frames the test builds. */
async function offering({ port }: ConnectionHandle, offer: string) {
  const headers = { ...HANDSHAKE, "sec-websocket-extensions": offer };
  const outgoing = request({ host: "127.0.0.1", port, path: "/api/v1/stream", headers, agent: false }).end();
  const [answer, socket] = (await once(outgoing, "upgrade")) as [IncomingMessage, Socket];
  return { answer, socket };
}

/** Returns a frame of less than 126 bytes with an all-zero mask. */
function maskedFrame(first: number, payload: Buffer): Buffer {
  return Buffer.concat([Buffer.from([first, 0x80 | payload.length, 0, 0, 0, 0]), payload]);
}
