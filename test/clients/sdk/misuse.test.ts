import { once } from "node:events";
import { expect } from "vitest";
import { type Filter, EVENT_NAMES as PROTOCOL_NAMES } from "../../../src/base/protocol/index.ts";
import { type ConnectOptions, connect, StreamError } from "../../../src/clients/sdk/index.ts";
import { EVENT_NAMES } from "../../../src/clients/sdk/options.ts";
import { HASTY, test } from "./stream-kit.ts";

const URL = "http://127.0.0.1:9";
/** Passes options as a program without types might. */
const untyped = (options: object) => options as ConnectOptions;

const WRONG: readonly (readonly [string, () => unknown, RegExp])[] = [
  [
    "an address without a scheme",
    () => connect("example.com"),
    /^address "example.com": use http\(s\):\/\/, no user or query$/,
  ],
  [
    "a host and port without a scheme",
    () => connect("localhost:8080"),
    /^address "localhost:8080": use http/,
  ],
  [
    "an address of another scheme (whose path the message omits)",
    () => connect("ftp://x/secret"),
    /^address "ftp:\/\/x": use http/,
  ],
  [
    "an address with a password (which the message omits)",
    () => connect("http://me:secret@127.0.0.1:9/base"),
    /^address "": use http.* no user or query$/,
  ],
  [
    "an address with a password (which the message omits) and no scheme",
    () => connect("me:sec?ret@127.0.0.1:9"),
    /^address "": use http/,
  ],
  [
    "an address with a key (which the message omits)",
    () => connect(`${URL}/?key=fw_3f9a1c2e_secret#part`),
    /^address "http:\/\/127.0.0.1:9": use http/,
  ],
  ["an address with a query", () => connect(`${URL}/?channels=*`), /^address .*: use http/],
  [
    "an unknown option",
    () => connect(URL, untyped({ chanels: [] })),
    /option "chanels" is unknown: use channels, /,
  ],
  [
    "channels that are not an array",
    () => connect(URL, untyped({ channels: "flares.*" })),
    /channels "flares.\*": use an array/,
  ],
  [
    "an unknown transport",
    () => connect(URL, untyped({ transport: "ws" })),
    /transport "ws" is unknown: use auto, websocket, sse, poll/,
  ],
  ["a negative number", () => connect(URL, { queueLimit: -1 }), /queueLimit -1: use 0 or more/],
  [
    "a numeric option that is not a number",
    () => connect(URL, untyped({ upgradeAfterMs: "soon" })),
    /upgradeAfterMs soon: use 0 or more/,
  ],
  [
    "a negative pause",
    () => connect(URL, { pauseHiddenAfterMs: -5 }),
    /pauseHiddenAfterMs -5: use 0 or more/,
  ],
  [
    "transport websocket without a WebSocket class",
    () => connect(URL, { transport: "websocket", platform: { WebSocket: undefined } }),
    /no WebSocket here: use platform: { WebSocket }, or "sse"/,
  ],
  [
    "an invalid key (which the message omits)",
    () => connect(URL, { key: "two words" }),
    /^invalid key: use one from flarewire keys add$/,
  ],
];

for (const [what, wrong, message] of WRONG) {
  test(`${what} is rejected, and the message says what to do`, () => {
    expect(wrong).toThrow(StreamError);
    expect(wrong).toThrow(message);
    expect(wrong).toThrow(expect.objectContaining({ code: "misuse" }));
  });
}

const REFUSED: readonly (readonly [string, ConnectOptions, RegExp])[] = [
  [
    "an empty list of channels",
    { channels: [] },
    /channels contains "", which matches no channel; use one of flares\.free, /,
  ],
  ["an unknown channel", { channels: ["flares.gold"] }, /"flares\.gold", .* a pattern such as /],
  ["an invalid cursor", { after: "yesterday" }, /after is "yesterday".* a cursor from this server/],
  [
    "a token that is not an address",
    { filter: { tokens: ["CAKE"] } },
    /tokens is "CAKE".* 0x and hexadecimal/,
  ],
  ["an empty symbol", { filter: { symbols: [""] } }, /symbols is "".* a text of 1 to 64 characters/],
  ["an unknown filter", { filter: untyped({ min_liquidty: 1 }) as Filter }, /min_liquidty.*min_liquidity/],
  ["a negative liquidity", { filter: { min_liquidity: -1 } }, /min_liquidity is "-1".* from 0 on/],
  [
    "a price change that is not a number",
    { filter: untyped({ min_price_change: "much" }) as Filter },
    /min_price_change is "much".* a decimal number/,
  ],
  [
    "an unknown event name",
    { filter: untyped({ names: ["flare-begun"] }) as Filter },
    /names is "flare-begun".* one of flare-started, /,
  ],
];

for (const [what, options, message] of REFUSED) {
  test(`${what} is refused by the server, and the reason says what is valid`, async ({ wire }) => {
    const stream = connect(`http://127.0.0.1:${wire.port}`, { platform: HASTY, ...options });
    const reading = stream[Symbol.asyncIterator]().next();
    await expect(reading).rejects.toThrow(expect.objectContaining({ name: "StreamError", code: "refused" }));
    expect(stream.connection).toMatchObject({ state: "closed", reason: expect.stringMatching(message) });
  });
}

test("a second reader, an unknown event name, and use after close are rejected", ({ start }) => {
  const { stream } = start(URL);
  const reader = stream[Symbol.asyncIterator]();
  expect(() => stream[Symbol.asyncIterator]()).toThrow("the stream has a reader: use on() for other readers");
  expect(() => stream.on("flare-begun" as "event", () => {})).toThrow(
    /event "flare-begun" is unknown: use flare-started, /,
  );
  stream.close();
  expect(() => stream.on("event", () => {})).toThrow("the stream is closed: connect again");
  expect(() => connectAndClose()[Symbol.asyncIterator]()).toThrow("the stream is closed");
  expect(reader).toBeDefined();
});

test("after a reader returns before its first read, another can start", async ({ start }) => {
  const { stream } = start(URL);
  await stream[Symbol.asyncIterator]().return(undefined);
  expect(() => stream[Symbol.asyncIterator]()).not.toThrow();
});

test("if a listener closes the stream, no later listener is called", async ({ wire, start }) => {
  const { stream, until } = start(`http://127.0.0.1:${wire.port}`);
  const reported: string[] = [];
  stream.on("event", () => stream.close());
  stream.on("token-listed", ({ name }) => reported.push(name));
  await until(() => stream.connection.state === "live");
  await wire.publish("list");
  await until(() => stream.connection.state === "closed");
  expect(reported).toEqual([]);
});

function connectAndClose() {
  const stream = connect(URL);
  stream.close();
  return stream;
}

test("a listener that throws or rejects does not disturb others, and error listeners receive its error", async ({
  wire,
  start,
}) => {
  const { stream, until, seqs } = start(`http://127.0.0.1:${wire.port}`);
  const errors: StreamError[] = [];
  const four = new Promise<void>((resolve) => {
    stream.on("error", (error) => {
      if (errors.push(error) === 4) resolve();
    });
  });
  stream.on("event", () => {
    throw new Error("at once");
  });
  stream.on("event", async () => {
    await Promise.resolve();
    throw new Error("later");
  });
  await until(() => stream.connection.state === "live");
  await wire.publish("list", "list");
  await until(() => seqs().length === 2);
  await four;
  expect(new Set(errors.map(({ code }) => code))).toEqual(new Set(["listener"]));
  expect(errors[0]?.message).toBe('the listener of "event" threw Error: at once: catch it there');
});

test("an error without a listener becomes an unhandled rejection", async ({ wire }) => {
  const before = process.listeners("unhandledRejection");
  process.removeAllListeners("unhandledRejection");
  try {
    const reported = once(process, "unhandledRejection");
    connect(`http://127.0.0.1:${wire.port}`, { channels: ["flares.gold"], platform: HASTY });
    const [error] = await reported;
    expect(error).toMatchObject({ name: "StreamError", code: "refused" });
  } finally {
    for (const listener of before) process.on("unhandledRejection", listener);
  }
});

test("the SDK's event names are those of the protocol", () => {
  expect([...EVENT_NAMES].sort()).toEqual([...PROTOCOL_NAMES].sort());
});
