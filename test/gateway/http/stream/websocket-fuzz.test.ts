import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { connect, type Socket } from "node:net";
import fc from "fast-check";
import { expect } from "vitest";
import { CLOSE_CODES } from "../../../../src/base/protocol/index.ts";
import { lawRuns } from "../../../support/law-runs.ts";
import { anyText } from "../../../support/random/any-text.ts";
import { type ConnectionHandle, HANDSHAKE, handshake, test } from "./websocket-fixture.ts";

/** The documented close codes. */
const DOCUMENTED = new Set<number>([...Object.values(CLOSE_CODES).map(({ code }) => code), 1002, 1007, 1008]);

const command = fc.record(
  {
    type: fc.oneof(fc.constantFrom("subscribe", "unsubscribe", "ping", "event", "__proto__"), fc.jsonValue()),
    id: fc.oneof(fc.constantFrom("a", 1, -0), fc.jsonValue({ maxDepth: 1 })),
    channels: fc.oneof(
      fc.array(fc.oneof(fc.constantFrom("*", "flares.*", "status", "newest.bsc", "nothing"), fc.string())),
      fc.jsonValue(),
    ),
    after: fc.oneof(
      fc.constantFrom("test1-0", "test1-1", "test1-999", "other-1", ""),
      fc.jsonValue({ maxDepth: 1 }),
    ),
    snapshot: fc.jsonValue({ maxDepth: 0 }),
    mode: fc.oneof(fc.constantFrom("events", "latest"), fc.jsonValue({ maxDepth: 0 })),
    filter: fc.oneof(
      fc.jsonValue({ maxDepth: 2 }),
      fc.record(
        {
          tokens: fc.oneof(fc.array(fc.constantFrom("0xab", "0x", "ab")), fc.jsonValue({ maxDepth: 1 })),
          symbols: fc.oneof(fc.array(fc.string()), fc.jsonValue({ maxDepth: 1 })),
          min_liquidity: fc.oneof(fc.constantFrom("1", "1e3", -1, 1), fc.jsonValue({ maxDepth: 0 })),
          min_age: fc.oneof(fc.double(), fc.jsonValue({ maxDepth: 0 })),
          min_price_change: fc.oneof(fc.double(), fc.jsonValue({ maxDepth: 0 })),
          names: fc.oneof(fc.array(fc.constantFrom("flare-started", "x")), fc.jsonValue({ maxDepth: 1 })),
        },
        { requiredKeys: [] },
      ),
    ),
  },
  { requiredKeys: [] },
);

/** A command with some characters removed, as by a faulty client or proxy. */
const mutated = fc
  .tuple(command, fc.nat(200), fc.nat(9))
  .map(([given, at, cut]) => JSON.stringify(given).slice(0, at) + JSON.stringify(given).slice(at + cut));

/** A field with the deepest nesting that fits into a frame. */
const deep = fc
  .tuple(
    fc.constantFrom("filter", "channels", "after", "id", "mode", "x"),
    fc.integer({ min: 1, max: 1_950 }),
  )
  .map(([field, depth]) => `{"type":"subscribe","${field}":${"[".repeat(depth)}${"]".repeat(depth)}}`);

/** Valid commands, so that the others arrive in every state of a connection. */
const right = fc.constantFrom(
  { type: "subscribe", id: "a", channels: ["*"], after: "test1-0" },
  { type: "subscribe", id: "b", channels: ["flares.*"], filter: { min_liquidity: 1 }, mode: "latest" },
  { type: "subscribe", id: "c", channels: ["newest.bsc"], snapshot: false },
  { type: "unsubscribe", id: "a" },
);

const payload = fc.oneof(
  { weight: 2, arbitrary: right.map((given) => JSON.stringify(given)) },
  { weight: 1, arbitrary: deep },
  { weight: 4, arbitrary: command.map((given) => JSON.stringify(given)) },
  { weight: 3, arbitrary: mutated },
  { weight: 2, arbitrary: anyText() },
  { weight: 1, arbitrary: fc.json({ maxDepth: 50 }) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 2_000 }).map((depth) => "[".repeat(depth)) },
  {
    weight: 1,
    arbitrary: fc.integer({ min: 4_000, max: 9_000 }).map((length) => JSON.stringify("x".repeat(length))),
  },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)) },
);

test("[W5] [W7] any frame is answered, or the connection is closed with a documented code", async ({
  wire,
}) => {
  await wire.publish("list", "flare");
  await fc.assert(
    fc.asyncProperty(fc.array(payload, { minLength: 1, maxLength: 8 }), async (payloads) => {
      const client = wire.client();
      await client.answer("hello");
      for (const each of payloads) client.ws.send(each);
      client.send({ type: "ping", id: "behind all" });
      const closed = client.ended.then(({ code }) => code);
      const code = await Promise.race([client.answer("pong", "behind all").then(() => undefined), closed]);
      if (code !== undefined) expect(DOCUMENTED).toContain(code);
      else {
        const reported = ["hello", "event", "heartbeat", "missed", "conflated"];
        const answers = client.messages.filter(({ type }) => !reported.includes(type));
        expect(answers.length).toBe(payloads.length + 1);
      }
      client.ws.terminate();
    }),
    lawRuns(40),
  );
  await wire.sessions(0);
});

/**
 * Sends bytes after a valid handshake. Resolves with all received bytes when the server has ended
 * the connection.
 */
async function provoke({ port }: ConnectionHandle, bytes: Uint8Array): Promise<Buffer> {
  const socket = connect(port, "127.0.0.1");
  const received: Buffer[] = [];
  socket.on("data", (chunk) => received.push(Buffer.from(chunk)));
  socket.on("error", () => {});
  socket.write(handshake("/api/v1/stream"));
  socket.end(bytes);
  await once(socket, "close");
  return Buffer.concat(received);
}

/** Returns the code of the close frame; `undefined` if there is none. */
function closeCode(received: Buffer): number | undefined {
  for (let at = received.indexOf("\r\n\r\n") + 4; at < received.length; ) {
    const [first = 0, short = 0] = received.subarray(at, at + 2);
    const long = short === 127 ? 8 : short === 126 ? 2 : 0;
    const length =
      long === 0 ? short : Number(received.readUIntBE(at + 2 + Math.max(0, long - 6), Math.min(long, 6)));
    if (first === 0x88 && length >= 2) return received.readUInt16BE(at + 2);
    at += 2 + long + length;
  }
  return undefined;
}

test("[W24] after any bytes, also in the middle of a frame, the server ends only that connection", async ({
  wire,
}) => {
  const steady = wire.client("?channels=status");
  await steady.answer("subscribed");
  const start = fc.constantFrom(
    [],
    [0x81, 0x85],
    [0x81, 0xfe],
    [0x81, 0xff],
    [0x88, 0x82],
    [0x01, 0x81],
    [0x89, 0x80],
  );
  await fc.assert(
    fc.asyncProperty(start, fc.uint8Array({ maxLength: 400 }), async (first, rest) => {
      const bytes = Uint8Array.from([...first, ...rest]);
      const received = await provoke(wire, bytes);
      expect(received.subarray(0, 12).toString()).toBe("HTTP/1.1 101");
      const code = closeCode(received);
      // A client's close frame is answered with the client's own code.
      if (code !== undefined && !bytes.includes(0x88)) expect(DOCUMENTED).toContain(code);
    }),
    lawRuns(40),
  );
  await wire.sessions(1);
  steady.send({ type: "ping", id: "alive" });
  await steady.answer("pong", "alive");
});

/** Values of a URL's parameter: valid, almost valid or invalid. */
const parameter = fc.tuple(
  fc.constantFrom(
    ...["channels", "after", "snapshot", "mode", "client", "filter", "limit", "wait"],
    ...["tokens", "symbols", "min_liquidity", "min_price_change", "min_age", "names", "x"],
  ),
  fc.oneof(
    fc.constantFrom(
      "*",
      "flares.*",
      "test1-0",
      "test1-9",
      "other-1",
      "oldest",
      "true",
      "latest",
      "bot-12345678",
    ),
    fc.constantFrom(
      "",
      "0",
      "-1",
      "1e9",
      "0x",
      "T1,T2",
      "flare-started",
      ",".repeat(99),
      "%00",
      "%ff",
      "x".repeat(70),
    ),
    anyText({ maxLength: 40 }).map((text) => encodeURIComponent(text.toWellFormed())),
  ),
);

test("[W3] [S9] [P7] any URL is answered, or rejected with a problem of status 4xx", async ({ wire }) => {
  await wire.publish("list", "flare");
  const seen = new Set<number>();
  await fc.assert(
    fc.asyncProperty(
      fc.array(parameter, { maxLength: 5 }),
      fc.constantFrom("stream", "events", "sse"),
      async (parameters, how) => {
        const query = parameters.map(([name, value]) => `${name}=${value}`).join("&");
        const path = `/api/v1/${how === "stream" ? "stream" : "events"}?${query.replace("wait=", "wait=0")}`;
        const status = await statusOf(wire, path, how);
        expect(how === "stream" ? [101, 400] : [200, 204, 400, 410], path).toContain(status);
        seen.add(status);
      },
    ),
    lawRuns(100),
  );
  expect([...seen]).toEqual(expect.arrayContaining([101, 200, 400]));
  await wire.sessions(0);
});

/** Returns the status of the response. A rejection must be a problem. */
async function statusOf({ port }: ConnectionHandle, path: string, how: string): Promise<number> {
  const headers: Record<string, string> =
    how === "stream" ? HANDSHAKE : how === "sse" ? { accept: "text/event-stream" } : {};
  const outgoing = request({ host: "127.0.0.1", port, path, headers, agent: false }).end();
  const [message, socket] = (await Promise.race([once(outgoing, "response"), once(outgoing, "upgrade")])) as [
    IncomingMessage,
    Socket | undefined,
  ];
  const { statusCode = 0, headers: fields } = message;
  if (statusCode >= 400) expect(fields["content-type"], path).toBe("application/problem+json");
  const closed = once(message.socket, "close");
  socket?.on("error", () => {});
  outgoing.on("error", () => {}).destroy();
  socket?.destroy();
  await closed;
  return statusCode;
}
