import fc from "fast-check";
import { expect, test } from "vitest";
import { type FramedEvent, websocketFraming } from "../../../../src/gateway/hub/index.ts";
import { decodeTextFrames } from "../mock-socket.ts";

const EDGES = [0, 1, 125, 126, 127, 65_535, 65_536, 70_000];

test("a message of any length is one text frame with the shortest encoding of its length", () => {
  for (const bytes of EDGES) {
    const text = "x".repeat(bytes);
    const frame = websocketFraming.message(text);
    expect(decodeTextFrames(frame)).toEqual([text]);
    expect(frame.length - bytes).toBe(bytes < 126 ? 2 : bytes < 65_536 ? 4 : 10);
  }
});

test("the length counts bytes, not characters", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      expect(decodeTextFrames(websocketFraming.message(text))).toEqual([text]);
    }),
  );
});

test("joined events are one text frame each, in order", () => {
  const event = fc.record({
    own: fc.stringMatching(/^[ -~]{0,40}$/),
    head: fc.stringMatching(/^[ -~]{0,200}$/),
    encoded: fc
      .oneof(
        fc.string({ unit: "grapheme" }),
        fc.constantFrom(...EDGES).map((length) => "y".repeat(length)),
      )
      .map((text) => Buffer.from(text)),
  });
  fc.assert(
    fc.property(fc.array(event, { maxLength: 6 }), (parts) => {
      const events: FramedEvent[] = parts.map((part) => ({
        ...part,
        cursor: "test1-1",
        name: "token-listed",
        isCommon: true,
      }));
      expect(decodeTextFrames(websocketFraming.events(events))).toEqual(
        parts.map(({ own, head, encoded }) => `${own}${head}${encoded}`),
      );
    }),
  );
});
