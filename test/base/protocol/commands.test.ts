import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import {
  CLOSE_CODES,
  Command,
  ERROR_CODES,
  Filter,
  FlarewireError,
} from "../../../src/base/protocol/index.ts";
import { actionAfter } from "../../../src/base/protocol/reconnect.ts";

const id = "a";
const SUBSCRIBE = { type: "subscribe", id, channels: ["flares.pro"] };
const FULL = {
  ...SUBSCRIBE,
  filter: { tokens: ["0xab"], sticky: true },
  mode: "latest",
  after: "k3f9-7",
  snapshot: false,
  mirror: true,
  max_message: 8_192,
};
const UNSUBSCRIBE = { type: "unsubscribe", id };
const PING = { type: "ping" };
const filtered = (filter: object) => ({ ...SUBSCRIBE, filter });

const ACCEPTED: readonly (readonly [what: string, command: object])[] = [
  ["the shortest subscribe", SUBSCRIBE],
  ["a subscribe with every field", FULL],
  ["an unsubscribe", UNSUBSCRIBE],
  ["a ping without id", PING],
  ["a ping with id", { ...PING, id: 7 }],
  ["the longest id", { ...UNSUBSCRIBE, id: "x".repeat(64) }],
  ["an empty id", { ...UNSUBSCRIBE, id: "" }],
  ["the greatest number as id", { ...UNSUBSCRIBE, id: 2 ** 53 - 1 }],
  ["64 channels", { ...SUBSCRIBE, channels: Array(64).fill("status") }],
  ["the longest channel name", { ...SUBSCRIBE, channels: ["x".repeat(64)] }],
  ["the longest cursor", { ...SUBSCRIBE, after: "x".repeat(64) }],
  ["the longest message", { ...SUBSCRIBE, max_message: 524_288 }],
  ["64 tokens", filtered({ tokens: Array(64).fill("0xab") })],
  ["the longest address", filtered({ tokens: [`0x${"a".repeat(128)}`] })],
  ["64 symbols", filtered({ symbols: Array(64).fill("x".repeat(64)) })],
  ["a liquidity of 0", filtered({ min_liquidity: 0 })],
  ["a liquidity as text", filtered({ min_liquidity: "0.5" })],
  ["a fall", filtered({ min_price_change: -5 })],
  ["an age of 0", filtered({ min_age: 0 })],
  ["no locked share", filtered({ min_locked: 0 })],
  ["the whole locked share", filtered({ min_locked: 1 })],
  ["names alone", filtered({ names: ["flare-started"] })],
  ["an empty filter", filtered({})],
  ...["symbols", "min_liquidity", "min_price_change", "min_age", "min_locked"].map(
    (field) =>
      [
        `sticky with ${field}`,
        filtered({ [field]: field === "symbols" ? ["A"] : 0, sticky: false }),
      ] as const,
  ),
];

const REFUSED: readonly (readonly [what: string, command: object, field: string])[] = [
  ["another type", { type: "publish", id }, "type"],
  ["a further field of subscribe", { ...SUBSCRIBE, channel: "x" }, ""],
  ["a further field of unsubscribe", { ...UNSUBSCRIBE, channels: ["x"] }, ""],
  ["a further field of ping", { ...PING, time: 1 }, ""],
  ["a further field of the filter", filtered({ token: ["0xab"] }), "filter"],
  ["no id of subscribe", { ...SUBSCRIBE, id: undefined }, "id"],
  ["no id of unsubscribe", { type: "unsubscribe" }, "id"],
  ["an id that is too long", { ...UNSUBSCRIBE, id: "x".repeat(65) }, "id"],
  ["an id that is too great", { ...PING, id: 2 ** 53 }, "id"],
  ["a fraction as id", { ...PING, id: 1.5 }, "id"],
  ["no channel", { ...SUBSCRIBE, channels: [] }, "channels"],
  ["65 channels", { ...SUBSCRIBE, channels: Array(65).fill("status") }, "channels"],
  ["a channel name that is too long", { ...SUBSCRIBE, channels: ["x".repeat(65)] }, "channels.0"],
  ["another mode", { ...SUBSCRIBE, mode: "fast" }, "mode"],
  ["a cursor that is too long", { ...SUBSCRIBE, after: "x".repeat(65) }, "after"],
  ["a message that is too short", { ...SUBSCRIBE, max_message: 8_191 }, "max_message"],
  ["a message that is too long", { ...SUBSCRIBE, max_message: 524_289 }, "max_message"],
  ["a word for a flag", { ...SUBSCRIBE, snapshot: "no" }, "snapshot"],
  ["no token", filtered({ tokens: [] }), "filter.tokens"],
  ["65 tokens", filtered({ tokens: Array(65).fill("0xab") }), "filter.tokens"],
  ["an address that is too long", filtered({ tokens: [`0x${"a".repeat(129)}`] }), "filter.tokens.0"],
  ["an address without digits", filtered({ tokens: ["0x"] }), "filter.tokens.0"],
  ["no symbol", filtered({ symbols: [] }), "filter.symbols"],
  ["65 symbols", filtered({ symbols: Array(65).fill("A") }), "filter.symbols"],
  ["an empty symbol", filtered({ symbols: [""] }), "filter.symbols.0"],
  ["a symbol that is too long", filtered({ symbols: ["x".repeat(65)] }), "filter.symbols.0"],
  ["a negative liquidity", filtered({ min_liquidity: -1 }), "filter.min_liquidity"],
  ["a negative liquidity as text", filtered({ min_liquidity: "-1" }), "filter.min_liquidity"],
  ["a change as text", filtered({ min_price_change: "5" }), "filter.min_price_change"],
  ["a negative age", filtered({ min_age: -1 }), "filter.min_age"],
  ["a negative share", filtered({ min_locked: -0.1 }), "filter.min_locked"],
  ["a share above 1", filtered({ min_locked: 1.1 }), "filter.min_locked"],
  ["no name", filtered({ names: [] }), "filter.names"],
  ["another name", filtered({ names: ["flare-began"] }), "filter.names.0"],
  ["sticky alone", filtered({ sticky: true }), "filter.sticky"],
  ["sticky with names alone", filtered({ sticky: true, names: ["flare-started"] }), "filter.sticky"],
];

test.each(ACCEPTED)("%s is accepted as it is", (_, command) => {
  expect(Command.parse(command)).toEqual(command);
});

test.each(REFUSED)("%s is refused, and the refusal names the field", (_, command, field) => {
  const { error } = Command.safeParse(command);
  expect(error?.issues[0]?.path.join(".")).toBe(field);
});

test("the bounds of a filter are said in words", () => {
  const saidOf = (filter: object) => Filter.safeParse(filter).error?.issues[0]?.message;
  expect(saidOf({ tokens: [] })).toBe("a list of 1 to 64");
  expect(saidOf({ symbols: [""] })).toBe("a text of 1 to 64 characters");
  expect(saidOf({ min_locked: 2 })).toBe("up to 1");
  expect(saidOf({ sticky: true })).toMatch(/^omitted without tokens, symbols, min_liquidity/);
});

test("every code of an error or close is documented with its status, action and meaning, and no other", () => {
  const document = readFileSync(new URL("../../../src/base/protocol/CODES.md", import.meta.url), "utf8");
  const rows = [...document.matchAll(/^\| `?([\w-]+)`? \| `?([\w-]+)`? \| (\w+) \| (.*) \|$/gm)].map(
    (match) => match.slice(1).join(" "),
  );
  expect(rows.filter((row) => !/^(code|-)/.test(row)).toSorted()).toEqual(
    [
      ...Object.entries(CLOSE_CODES).map(
        ([reason, { code, action, meaning }]) => `${code} ${reason} ${action} ${meaning}`,
      ),
      ...Object.entries(ERROR_CODES).map(
        ([code, { status, meaning }]) => `${code} ${status} ${actionAfter(status)} ${meaning}`,
      ),
    ].toSorted(),
  );
});

test("an error keeps what its answer needs", () => {
  const lost = { reason: "expired", events: 3 } as const;
  const details = { field: "after", bound: "later", reason: "streams", lost, parts: [] } as const;
  const error = new FlarewireError("cursor-gone", "too old", { ...details, cause: 7 });
  expect({ ...error, message: error.message, cause: error.cause }).toMatchObject({
    ...details,
    code: "cursor-gone",
    message: "too old",
    cause: 7,
  });
  expect("cause" in new FlarewireError("internal", "x")).toBe(false);
});
