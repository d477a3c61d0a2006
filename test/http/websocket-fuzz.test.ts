import { once } from "node:events";
import { connect } from "node:net";
import fc from "fast-check";
import { expect } from "vitest";
import { CLOSE_CODES } from "../../src/protocol/index.ts";
import { handshake, test, type Wire } from "./websocket-fixture.ts";

/** The codes that the document names. */
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
          min_price_change: fc.oneof(fc.double(), fc.jsonValue({ maxDepth: 0 })),
          names: fc.oneof(fc.array(fc.constantFrom("flare-started", "x")), fc.jsonValue({ maxDepth: 1 })),
        },
        { requiredKeys: [] },
      ),
    ),
  },
  { requiredKeys: [] },
);

/** A command with some characters cut out, as a faulty client or proxy might. */
const mutated = fc
  .tuple(command, fc.nat(200), fc.nat(9))
  .map(([given, at, cut]) => JSON.stringify(given).slice(0, at) + JSON.stringify(given).slice(at + cut));

const payload = fc.oneof(
  { weight: 4, arbitrary: command.map((given) => JSON.stringify(given)) },
  { weight: 3, arbitrary: mutated },
  { weight: 2, arbitrary: fc.string({ unit: "binary" }) },
  { weight: 1, arbitrary: fc.json({ maxDepth: 50 }) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 2_000 }).map((depth) => "[".repeat(depth)) },
  {
    weight: 1,
    arbitrary: fc.integer({ min: 4_000, max: 9_000 }).map((length) => JSON.stringify("x".repeat(length))),
  },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)) },
);

test("[W5] [W7] whatever is in the frames, each is answered, or the connection is closed with a documented code", async ({
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
        const answers = client.messages.filter(({ type }) => !["hello", "event", "heartbeat"].includes(type));
        expect(answers.length).toBe(payloads.length + 1);
      }
      client.ws.terminate();
    }),
    { numRuns: 300 },
  );
  await wire.sessions(0);
});

/** Writes bytes behind a good handshake; resolves with all that came back when the server has ended the connection. */
async function provoke({ port }: Wire, bytes: Uint8Array): Promise<Buffer> {
  const socket = connect(port, "127.0.0.1");
  const received: Buffer[] = [];
  socket.on("data", (chunk) => received.push(Buffer.from(chunk)));
  socket.on("error", () => {});
  socket.write(handshake("/api/v1/stream"));
  socket.end(bytes);
  await once(socket, "close");
  return Buffer.concat(received);
}

test("[W24] whatever bytes come, also in the middle of a frame, the server ends that connection and lives", async ({
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
      const received = await provoke(wire, Uint8Array.from([...first, ...rest]));
      expect(received.subarray(0, 12).toString()).toBe("HTTP/1.1 101");
    }),
    { numRuns: 300 },
  );
  await wire.sessions(1);
  steady.send({ type: "ping", id: "alive" });
  await steady.answer("pong", "alive");
});
