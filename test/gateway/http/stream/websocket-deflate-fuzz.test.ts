import { once } from "node:events";
import { connect } from "node:net";
import { constants, deflateRawSync } from "node:zlib";
import fc from "fast-check";
import { expect } from "vitest";
import { CLOSE_CODES } from "../../../../src/base/protocol/index.ts";
import { readServerFrames, type ServerFrame } from "../../../support/clients/server-frames.ts";
import { lawRuns } from "../../../support/law-runs.ts";
import { type ConnectionHandle, handshake, compressedTest as test } from "./websocket-fixture.ts";

/** The documented close codes. */
const DOCUMENTED = new Set<number>([...Object.values(CLOSE_CODES).map(({ code }) => code), 1002, 1007, 1008]);
/** First bytes of frames: FIN, RSV1, and the opcode. */
const [TEXT, PART, LAST, PING] = [0xc1, 0x41, 0x80, 0xc9];
const INBOUND_BYTES = 4_096;

/** Returns a frame with an all-zero mask, which leaves the payload unchanged. */
function frame(first: number, payload: Uint8Array): Buffer {
  const [short, long] = payload.length < 126 ? [payload.length, 0] : [126, 2];
  const header = Buffer.from([
    first,
    0x80 | short,
    ...(long ? [payload.length >> 8, payload.length & 255] : []),
  ]);
  return Buffer.concat([header, Buffer.alloc(4), payload]);
}

/**
 * Returns a message's payload by RFC 7692. A part that is not the last keeps the bytes that are cut
 * off at a message's end.
 */
function deflated(text: string, level = 6, isPart = false): Buffer {
  const bytes = deflateRawSync(text, { finishFlush: constants.Z_SYNC_FLUSH, level });
  return isPart ? bytes : bytes.subarray(0, -4);
}

const padded = (bytes: number) => `{"type":"ping","id":1}${" ".repeat(bytes - 22)}`;

/** Returns the complete frames after the response to the handshake. */
function framesOf(received: readonly Buffer[]): readonly ServerFrame[] {
  const all = Buffer.concat(received);
  return readServerFrames(all.subarray(all.indexOf("\r\n\r\n") + 4), 12, true);
}

/**
 * Sends bytes and a ping after a handshake with this offer. Resolves with the received frames when
 * the connection has ended. The client ends it after its pong or a close frame; if `isHasty`, at
 * once.
 */
async function provoke({ port }: ConnectionHandle, bytes: Uint8Array, offer?: string, isHasty = false) {
  const socket = connect(port, "127.0.0.1");
  const received: Buffer[] = [];
  socket.on("data", (chunk) => {
    received.push(Buffer.from(chunk));
    if (framesOf(received).some(({ opcode }) => opcode === 8 || opcode === 10)) socket.end();
  });
  socket.on("error", () => {});
  const fields = offer === undefined ? "" : `Sec-WebSocket-Extensions: ${offer}\r\n`;
  socket.write(`${handshake("/api/v1/stream").slice(0, -2)}${fields}\r\n`);
  socket.write(Buffer.concat([bytes, frame(0x89, Buffer.from("end"))]));
  if (isHasty) socket.end();
  await once(socket, "close");
  expect(Buffer.concat(received).subarray(0, 12).toString()).toBe("HTTP/1.1 101");
  return framesOf(received);
}

/** Returns the code of the close frame; `undefined` if there is none. */
function closeCode(frames: readonly ServerFrame[]): number | undefined {
  const closing = frames.find(({ opcode, payload }) => opcode === 8 && payload.length >= 2);
  return closing?.payload.readUInt16BE(0);
}

const OFFER = "permessage-deflate; client_max_window_bits";

test.for([
  ["compressed without having been negotiated", 1002, frame(TEXT, deflated("{}")), undefined],
  ["compressed though the offer was declined", 1002, frame(TEXT, deflated("{}")), `${OFFER}=7`],
  ["a ping that is compressed", 1002, frame(PING, deflated("x")), OFFER],
  [
    "a later part marked as compressed",
    1002,
    Buffer.concat([frame(PART, deflated("{")), frame(0xc0, deflated("}"))]),
    OFFER,
  ],
  ["another reserved bit", 1002, frame(0xe1, deflated("{}")), OFFER],
  ["a block of an undefined kind", 1007, frame(TEXT, Buffer.from([0x06, 1, 2, 3])), OFFER],
  ["a distance before the beginning", 1007, frame(TEXT, Buffer.from([0x4b, 0x04, 0x42, 0x99, 0x99])), OFFER],
  ["text that is not UTF-8", 1007, frame(TEXT, deflated("\xff\xfe".repeat(3)).fill(0xff, 4, 6)), OFFER],
  ["one byte more than allowed", 4001, frame(TEXT, deflated(padded(INBOUND_BYTES + 1))), OFFER],
  ["a thousand times what is allowed", 4001, frame(TEXT, deflated("0".repeat(4_000_000))), OFFER],
  [
    "parts that are small each",
    4001,
    Buffer.concat(
      Array.from({ length: 9 }, (_, at) => frame(at ? 0 : PART, deflated("0".repeat(500), 6, true))).concat(
        frame(LAST, deflated("")),
      ),
    ),
    OFFER,
  ],
] as const)(
  "[W24] [W19] [W37] a client that sends this is closed: %s, with %i",
  async ([, code, bytes, offer], { wire }) => {
    const frames = await provoke(wire, bytes, offer);
    expect(closeCode(frames)).toBe(code);
    await wire.sessions(0);
  },
);

test("[W19] [W37] the size after inflating counts: a message of the maximum size is read", async ({
  wire,
}) => {
  const frames = await provoke(wire, frame(TEXT, deflated(padded(INBOUND_BYTES))), OFFER);
  expect(frames.map(({ payload }) => `${payload}`)).toEqual([
    expect.stringContaining("hello"),
    expect.stringContaining('{"type":"pong","id":1'),
    "end",
  ]);
});

const command = fc.constantFrom(
  '{"type":"ping","id":1}',
  '{"type":"subscribe","id":"a","channels":["*"]}',
  '{"type":"unsubscribe","id":"a"}',
  padded(INBOUND_BYTES),
  "0".repeat(100_000),
  "",
  "é☕",
);
/**
 * A compressed message, valid or with bytes changed, removed or inserted, in one frame or in parts.
 */
const hostile = fc
  .record({
    payload: fc.tuple(command, fc.constantFrom(0, 1, 6)).map(([text, level]) => deflated(text, level)),
    at: fc.nat(60),
    cut: fc.constantFrom(0, 0, 1, 7),
    put: fc.uint8Array({ maxLength: 4 }),
    first: fc.constantFrom(TEXT, TEXT, TEXT, PART, 0xc2, PING, 0x81),
    parts: fc.constantFrom(1, 1, 2, 5),
  })
  .map(({ payload, at, cut, put, first, parts }) => {
    const bytes = Buffer.concat([payload.subarray(0, at), put, payload.subarray(at + cut)]).subarray(
      0,
      60_000,
    );
    if (parts === 1) return frame(first, bytes);
    const size = Math.ceil(bytes.length / parts);
    return Buffer.concat(
      Array.from({ length: parts }, (_, part) =>
        frame(
          part === 0 ? first & 0x7f : part === parts - 1 ? LAST : 0,
          bytes.subarray(part * size, (part + 1) * size),
        ),
      ),
    );
  });

test("[W24] [W37] after any compressed frames, the server ends only that connection, with a documented code", async ({
  wire,
}) => {
  const steady = wire.client("?channels=*");
  await steady.answer("subscribed");
  const codes = new Set<number | undefined>();
  await fc.assert(
    fc.asyncProperty(
      fc.array(hostile, { minLength: 1, maxLength: 5 }),
      fc.boolean(),
      async (messages, hasty) => {
        const code = closeCode(await provoke(wire, Buffer.concat(messages), OFFER, hasty));
        codes.add(code);
        if (code !== undefined) expect(DOCUMENTED).toContain(code);
      },
    ),
    { ...lawRuns(40), examples: [[[frame(PING, deflated("x"))], false]] },
  );
  // Messages above the limit are rare here, and tested above.
  expect([...codes]).toEqual(expect.arrayContaining([undefined, 1002, 1007]));
  await wire.sessions(1);
  await wire.publish("list");
  await steady.until(() => steady.seqs.length === 1);
  steady.send({ type: "ping", id: "alive" });
  await steady.answer("pong", "alive");
});
