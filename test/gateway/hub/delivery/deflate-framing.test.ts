import fc from "fast-check";
import { expect, test } from "vitest";
import { DeflateCache } from "../../../../src/gateway/hub/delivery/deflate-cache.ts";
import {
  createDeflateFraming,
  createHubCounters,
  type FramedEvent,
  websocketFraming,
} from "../../../../src/gateway/hub/index.ts";
import { readServerFrames, textsOf } from "../../../support/clients/server-frames.ts";

/** Lengths around the limits of frame headers, stored blocks and thresholds. */
const EDGES = [0, 1, 125, 126, 255, 256, 1_023, 1_024, 65_535, 65_536, 524_288, 524_289];

/** Shrinking a failure takes minutes with texts this large. */
const UNSHRUNK = { endOnFailure: true };

function make() {
  const counters = createHubCounters();
  return { counters, framing: createDeflateFraming(counters) };
}

/**
 * Texts like the market's, with repetitions at distances below and above the compression window.
 */
const words = fc
  .array(
    fc.constantFrom('"price":"0.0001234",', '"id":', "7f3a", "é☕", "0x55d398326f99059ff775485246999027b319"),
    {
      maxLength: 400,
    },
  )
  .map((parts) => parts.join(""));
const text = fc.oneof(
  words,
  fc.string({ unit: "grapheme", maxLength: 600, size: "max" }),
  fc.constantFrom(...EDGES).map((length) => "y".repeat(length)),
  fc.uint8Array({ maxLength: 9_000, size: "max" }).map((bytes) => Buffer.from(bytes).toString("base64")),
);
const event = fc.record({
  own: fc.nat().map((prev) => `{"type":"event","prev":${prev}`),
  head: fc.nat().map((seq) => `,"seq":${seq},`),
  encoded: text.map((encoded) => Buffer.from(encoded)),
  isCommon: fc.nat(9).map((one) => one > 0),
});
const framed = (parts: Omit<FramedEvent, "cursor" | "name">): FramedEvent => ({
  ...parts,
  ...{ cursor: "test1-1", name: "token-listed" },
});
const common = (encoded: string, own = '{"type":"event"', head = ',"seq":1,') =>
  framed({ own, head, encoded: Buffer.from(encoded), isCommon: true });

test("[W37] joined compressed events inflate, within the negotiated window, to the texts that are sent uncompressed", () => {
  const { framing, counters } = make();
  fc.assert(
    fc.property(fc.array(event, { minLength: 1, maxLength: 6, size: "max" }), (parts) => {
      const events = parts.map(framed);
      const frames = readServerFrames(framing.events(events));
      const plain = readServerFrames(websocketFraming.events(events));
      expect(textsOf(frames)).toEqual(textsOf(plain));
      for (const [at, { bytes, isDeflated }] of frames.entries())
        expect(bytes - (isDeflated ? 0 : 1)).toBeLessThan(plain[at]?.bytes ?? 0);
    }),
    UNSHRUNK,
  );
  expect(counters.deflatedTexts).toBeGreaterThan(50);
});

test("[W37] a compressed message with a snapshot of any length inflates to the text that is sent uncompressed", () => {
  const { framing, counters } = make();
  fc.assert(
    fc.property(text, text, (id, lists) => {
      const [json, snapshot] = [JSON.stringify({ type: "subscribed", id }), JSON.stringify(lists)];
      const frames = readServerFrames(Buffer.concat(framing.withLists(json, Buffer.from(`${snapshot}}`))));
      expect(textsOf(frames)).toEqual([JSON.stringify({ type: "subscribed", id, snapshot: lists })]);
    }),
    UNSHRUNK,
  );
  expect(counters.deflatedTexts).toBeGreaterThan(10);
});

test("[W37] short, very long, filtered and individual messages stay uncompressed, and varied text does not grow", () => {
  const { framing, counters } = make();
  const isDeflated = (bytes: Buffer) => readServerFrames(bytes).some((frame) => frame.isDeflated);
  const own = '{"type":"event"';
  const of = (encoded: string, isCommon = true) =>
    isDeflated(framing.events([framed({ own, head: ",", encoded: Buffer.from(encoded), isCommon })]));
  expect([of("y".repeat(254)), of("y".repeat(255)), of("z".repeat(255), false)]).toEqual([
    false,
    true,
    false,
  ]);
  expect([of("y".repeat(524_287)), of("y".repeat(524_288))]).toEqual([true, false]);
  const varied = Buffer.from(Array.from({ length: 300 }, (_, at) => 33 + ((at * at * 7) % 94))).toString();
  expect(readServerFrames(framing.events([common(varied)]))[0]?.bytes).toBeLessThanOrEqual(
    readServerFrames(websocketFraming.events([common(varied)]))[0]?.bytes ?? 0,
  );
  expect(isDeflated(framing.message(JSON.stringify({ type: "pong", id: "y".repeat(9_000) })))).toBe(false);
  const lists = Buffer.from('{"explanations":{}}}');
  expect(isDeflated(Buffer.concat(framing.withLists('{"type":"subscribed"}', lists)))).toBe(false);
  expect(counters.deflatedTexts).toBe(3);
});

test("[L6] an event is compressed once for all stream shapes and clients, and a snapshot once for all responses", () => {
  const { framing, counters } = make();
  const events = [common("a".repeat(500)), common("b".repeat(500))];
  for (const prev of [1, 2, 3]) {
    const shaped = events.map((one) => ({ ...one, own: `{"type":"event","prev":${prev}` }));
    expect(textsOf(readServerFrames(framing.events(shaped)))).toEqual(
      textsOf(readServerFrames(websocketFraming.events(shaped))),
    );
  }
  expect(counters).toMatchObject({ deflatedTexts: 2, deflatedFromBytes: 2 * 509 });
  expect(counters.deflatedToBytes).toBeLessThan(60);
  const lists = Buffer.from(`${JSON.stringify({ newest: "c".repeat(5_000) })}}`);
  for (const id of ["a", "b", "c"]) framing.withLists(JSON.stringify({ type: "subscribed", id }), lists);
  expect(counters.deflatedTexts).toBe(3);
});

test("a body after different heads, as in `event` and `missed`, gives different texts", () => {
  const { framing } = make();
  const [one] = [common("d".repeat(500))];
  for (const head of [',"cursor":"a-1","seq":1,', ',"seq":1,', ',"cursor":"a-1","seq":1,']) {
    expect(textsOf(readServerFrames(framing.events([{ ...one, head }])))).toEqual([
      `${one.own}${head}${one.encoded}`,
    ]);
  }
});

test("[L5] the cache of deflated texts is bounded: the oldest are dropped, and compressed again when needed", () => {
  const { framing, counters } = make();
  const events = Array.from({ length: 40 }, (_, at) => common(`${at}`.repeat(200_000)));
  framing.events(events);
  framing.events(events.slice(-2));
  expect(counters.deflatedTexts).toBe(40);
  framing.events(events.slice(0, 2));
  expect(counters.deflatedTexts).toBe(42);
});

test("a cached text holds no more memory than its own bytes", () => {
  const cache = new DeflateCache(1e6, createHubCounters());
  const text = `"price":"0.0001234",`.repeat(50);
  const deflated = cache.take(Buffer.from(text), '{"a":1,', 0);
  expect(deflated?.length).toBeGreaterThan(20);
  expect(deflated?.buffer.byteLength).toBe(deflated?.length);
});
