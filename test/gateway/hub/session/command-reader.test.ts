import { expect, test } from "vitest";
import { readCommand, refuseBinary } from "../../../../src/gateway/hub/session/command-reader.ts";

const long = "x".repeat(70);
const cut = `"${"x".repeat(64)}"…`;

/** What a frame is refused with: its id, code, field and message. */
const REFUSED: readonly (readonly [
  frame: unknown,
  id: unknown,
  code: string,
  field: unknown,
  message: string,
])[] = [
  ["{", undefined, "invalid-message", undefined, 'the frame "{" is not JSON'],
  [long, undefined, "invalid-message", undefined, `the frame ${cut} is not JSON`],
  [[1], undefined, "invalid-message", undefined, "the frame is [1]; it must be a JSON object"],
  [null, undefined, "invalid-message", undefined, "the frame is null; it must be a JSON object"],
  [
    { id: 1 },
    1,
    "invalid-message",
    "type",
    "type is missing; it must be one of subscribe, unsubscribe, ping",
  ],
  [
    { id: "a", type: 7 },
    "a",
    "invalid-message",
    "type",
    "type is 7; it must be one of subscribe, unsubscribe, ping",
  ],
  [
    { id: "a", type: "publish" },
    "a",
    "unknown-command",
    "type",
    'type is "publish"; it must be one of subscribe, unsubscribe, ping',
  ],
  [
    { id: 7, type: long },
    7,
    "unknown-command",
    "type",
    `type is ${cut}; it must be one of subscribe, unsubscribe, ping`,
  ],
  [
    { id: long, type: "publish" },
    undefined,
    "unknown-command",
    "type",
    'type is "publish"; it must be one of subscribe, unsubscribe, ping',
  ],
  [
    { type: "publish" },
    undefined,
    "unknown-command",
    "type",
    'type is "publish"; it must be one of subscribe, unsubscribe, ping',
  ],
  [
    { type: "unsubscribe" },
    undefined,
    "invalid-parameter",
    "id",
    "id is missing: it must be a text of at most 64 characters or a whole number of at most 2^53 - 1",
  ],
  [
    { id: 1, type: "subscribe", channels: ["status"], max_message: 1 },
    1,
    "invalid-parameter",
    "max_message",
    "max_message is 1: Too small: expected number to be >=8192",
  ],
  [{ id: 1, type: "ping", tim: 1 }, 1, "invalid-parameter", "tim", 'unknown field "tim"; known: type, id'],
  [
    { id: 1, type: "unsubscribe", typ: 1 },
    1,
    "invalid-parameter",
    "typ",
    'unknown field "typ" (did you mean type?); known: type, id',
  ],
  [
    { id: 1, type: "subscribe", channels: ["status"], filter: { token: [] } },
    1,
    "invalid-parameter",
    "filter.token",
    'unknown field "filter.token" (did you mean filter.tokens?); known: filter.tokens, filter.symbols, filter.min_liquidity, filter.min_price_change, filter.min_age, filter.min_locked, filter.sticky, filter.names',
  ],
  [
    { id: 1, type: "subscribe", channels: ["status"], filter: { min_age: -1 } },
    1,
    "invalid-parameter",
    "filter.min_age",
    "filter.min_age is -1: from 0 on",
  ],
];

test.each(REFUSED)(
  "[W5] the frame %j is refused with its id, if that is readable",
  (frame, id, code, field, message) => {
    const read = readCommand(typeof frame === "string" ? frame : JSON.stringify(frame));
    expect(read.kind).toBe("refused");
    if (read.kind !== "refused") return;
    expect([read.id, read.error.code, read.error.field, read.error.message]).toEqual([
      id,
      code,
      field,
      message,
    ]);
  },
);

test("[W5] a valid command is read as it is, and a binary frame is none", () => {
  expect(readCommand('{"type":"ping","id":"a"}')).toEqual({
    kind: "command",
    command: { type: "ping", id: "a" },
  });
  expect(refuseBinary()).toMatchObject({
    kind: "refused",
    id: undefined,
    error: { code: "invalid-message" },
  });
});
