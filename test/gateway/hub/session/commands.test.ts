import { expect } from "vitest";
import { EPOCH, settled, test } from "../hub-fixture.ts";
import type { MockSocket } from "../mock-socket.ts";

const send = (socket: MockSocket, command: unknown) => socket.session?.receiveText(JSON.stringify(command));
const last = (socket: MockSocket) => socket.messages.at(-1);

test("[W5] every command is answered with its id, in order", ({ sut }) => {
  const socket = sut.open();
  send(socket, { type: "ping", id: 1 });
  send(socket, { type: "ping" });
  send(socket, { type: "subscribe", id: "1", channels: ["status"] });
  send(socket, { type: "subscribe", id: 1, channels: ["status"] });
  send(socket, { type: "unsubscribe", id: 1 });
  expect(socket.messages.slice(1).map(({ type, id }) => [type, id])).toEqual([
    ["pong", 1],
    ["pong", undefined],
    ["subscribed", "1"],
    ["subscribed", 1],
    ["unsubscribed", 1],
  ]);
});

test("[W5] for a client that is behind, ping is answered between events; subscribe and unsubscribe wait until it has caught up", async ({
  make,
}) => {
  const sut = make({ hub: { limits: { catchUpRecords: 2 } } });
  await sut.publish("list", "list", "list", "list");
  const socket = sut.open({ channels: ["newest.bsc"], after: `${EPOCH}-0` });
  send(socket, { type: "subscribe", id: "more", channels: ["flares.pro"] });
  await settled();
  const order = socket.messages.map(({ type, id, seq }) => id ?? seq ?? type);
  expect(order).toEqual(["hello", "url", 1, 2, 3, 4, "more"]);
  socket.freeze();
  socket.highWater = 1;
  await sut.publish("list");
  send(socket, { type: "ping", id: "p" });
  send(socket, { type: "unsubscribe", id: "more" });
  await sut.publish("list");
  expect(socket.waitingBytes).toBe(socket.writes.at(-1)?.length);
  socket.readOnce();
  expect(last(socket)).toMatchObject({ type: "event", seq: 5 });
  socket.thaw();
  await settled();
  expect(socket.messages.slice(-3).map(({ type, id, seq }) => id ?? seq ?? type)).toEqual(["p", 6, "more"]);
});

test("[W5] commands after a subscribe with an old cursor are answered after its response, which waits for the log", async ({
  make,
}) => {
  for (const [log, resumed] of [
    [{}, "full"],
    [{ minCount: 1, maxAgeMs: 0 }, "reset"],
  ] as const) {
    const sut = make({ log });
    await sut.publish("list", "list");
    sut.clock.advance(1);
    await sut.publish("list");
    const socket = sut.open();
    send(socket, { type: "subscribe", id: "old", channels: ["newest.bsc"], after: `${EPOCH}-0` });
    send(socket, { type: "ping", id: "p" });
    socket.session?.receiveText("garbage");
    expect(socket.messages.map(({ type }) => type)).toEqual(["hello"]);
    await settled();
    const answers = socket.messages.filter(({ type }) => type !== "event");
    expect(answers.map(({ type, id }) => id ?? type)).toEqual(["hello", "old", "p", "error"]);
    expect(answers[1]).toMatchObject({ resumed });
  }
});

test("[W6] a command with an unknown or ineffective field is rejected with the field's name, and subscribes to nothing", ({
  sut,
}) => {
  const socket = sut.open();
  const refused: readonly (readonly [Record<string, unknown>, string, RegExp])[] = [
    [{ type: "subscribe", channels: ["status"], fliter: {} }, "fliter", /did you mean filter\?.*channels/],
    [
      { type: "subscribe", channels: ["*"], filter: { min_pricechange: 5 } },
      "filter.min_pricechange",
      /"filter.min_pricechange" \(did you mean filter.min_price_change\?\).*filter.tokens/,
    ],
    [
      { type: "subscribe", channels: ["*"], filter: { sticky: true } },
      "filter.sticky",
      /omitted without tokens/,
    ],
    [{ type: "unsubscribe", colour: "red" }, "colour", /unknown field "colour"; known: type, id/],
    [{ type: "ping", ["x".repeat(99)]: 1 }, "x".repeat(64), /unknown field "x{64}"; known: type, id/],
  ];
  for (const [at, [command, field, message]] of refused.entries()) {
    send(socket, { ...command, id: at });
    expect(last(socket)).toMatchObject({ type: "error", id: at, code: "invalid-parameter", field });
    expect(last(socket)?.message).toMatch(message);
  }
  send(socket, { type: "subscribe", id: 0, channels: ["status"] });
  expect(last(socket)).toMatchObject({ type: "subscribed", id: 0 });
});

const LONG = "x".repeat(200);
const REFUSED: readonly (readonly [string, Readonly<Record<string, unknown>>, RegExp])[] = [
  ["nonsense", { code: "invalid-message" }, /"nonsense" is not JSON/],
  [LONG, { code: "invalid-message" }, /"x{64}"… is not JSON/],
  ["", { code: "invalid-message" }, /not JSON/],
  ["null", { code: "invalid-message" }, /null; it must be a JSON object/],
  ["[1]", { code: "invalid-message" }, /\[1\]; it must be a JSON object/],
  ["{}", { code: "invalid-message", field: "type" }, /type is missing; .*subscribe, unsubscribe, ping/],
  ['{"type":5,"id":"q"}', { code: "invalid-message", field: "type", id: "q" }, /type is 5/],
  ['{"type":"toString"}', { code: "unknown-command", field: "type" }, /"toString"; .*subscribe/],
  [
    '{"type":"ping","id":{}}',
    { code: "invalid-parameter", field: "id" },
    /id is \{\}: it must be a text of at most 64/,
  ],
  [
    '{"type":"ping","id":12345678901234567890}',
    { code: "invalid-parameter", field: "id" },
    /id is 12345678901234567000: .*9007199254740991/,
  ],
  ['{"type":"ping","id":1e999}', { code: "invalid-parameter", field: "id" }, /id is null/],
  [`{"type":"ping","id":"${LONG}"}`, { code: "invalid-parameter", field: "id" }, /x{64}"….*64/],
  [
    '{"type":"subscribe","id":7}',
    { code: "invalid-parameter", field: "channels", id: 7 },
    /channels is missing/,
  ],
  ['{"type":"subscribe","id":7,"channels":[]}', { code: "invalid-parameter", field: "channels" }, /\[\].*1/],
  ['{"type":"subscribe","id":7,"channels":[3]}', { code: "invalid-parameter", field: "channels.0" }, /is 3/],
  [
    '{"type":"subscribe","id":7,"channels":["flares"]}',
    { code: "unknown-channel", field: "channels", id: 7 },
    /"flares" \(did you mean flares\.\*\?\), which matches no channel; use one of flares.free/,
  ],
  [
    '{"type":"subscribe","id":7,"channels":["flare.pro"]}',
    { code: "unknown-channel", field: "channels", id: 7 },
    /"flare\.pro" \(did you mean flares\.pro\?\), which matches no channel/,
  ],
  [
    '{"type":"subscribe","id":7,"channels":["*"],"after":4}',
    { code: "invalid-parameter", field: "after" },
    /is 4/,
  ],
  ['{"type":"unsubscribe","id":"gone"}', { code: "unknown-subscription", field: "id", id: "gone" }, /"gone"/],
  ['{"__proto__":{"type":"ping"}}', { code: "invalid-message", field: "type" }, /type is missing/],
  [
    `{"type":${"[".repeat(2_000)}${"]".repeat(2_000)}}`,
    { code: "invalid-message", field: "type" },
    /type is \[{64}…/,
  ],
];

test("[W7] a rejected command changes nothing, and the connection stays open", ({ sut }) => {
  for (const [text, expected, message] of REFUSED) {
    const socket = sut.open();
    socket.session?.receiveText(text);
    const answer = last(socket);
    expect(answer, text).toMatchObject({ type: "error", ...expected });
    expect(answer?.message, text).toMatch(message);
    send(socket, { type: "ping", id: "alive" });
    expect(last(socket)).toMatchObject({ type: "pong", id: "alive" });
  }
});

test("[W7] a binary frame is rejected, and the connection stays open", ({ sut }) => {
  const socket = sut.open();
  socket.session?.receiveBinary();
  expect(last(socket)).toMatchObject({ type: "error", code: "invalid-message" });
  expect(socket.closed).toBeUndefined();
});

test("[W19] a message above the size limit closes the connection", ({ sut }) => {
  const socket = sut.open();
  socket.session?.oversize();
  expect(socket.closed).toBe("message-too-big");
});

test("[W20] a command above the burst is rejected; after 200 ms another one is accepted", ({ sut }) => {
  const socket = sut.open();
  for (let n = 0; n < 20; n++) send(socket, { type: "ping", id: n });
  expect(last(socket)).toMatchObject({ type: "pong", id: 19 });
  send(socket, { type: "ping", id: 20 });
  expect(last(socket)).toMatchObject({ type: "error", code: "rate-limited" });
  expect(last(socket)?.message).toContain("5 a second, 20 at once");
  sut.clock.advance(199);
  send(socket, { type: "ping", id: 21 });
  expect(last(socket)).toMatchObject({ type: "error", code: "rate-limited" });
  sut.clock.advance(1);
  send(socket, { type: "ping", id: 22 });
  expect(last(socket)).toMatchObject({ type: "pong", id: 22 });
});

test("[W20] a client that stays above the rate is closed", ({ sut }) => {
  const socket = sut.open();
  for (let n = 0; n < 30; n++) send(socket, { type: "ping" });
  expect([socket.of("pong").length, socket.of("error").length, socket.closed]).toEqual([20, 10, undefined]);
  send(socket, { type: "ping" });
  expect(socket.closed).toBe("rate-limited");
});

test("[W20] a client that reads no responses is closed at its 33rd waiting command", ({ sut }) => {
  const socket = sut.open({}, (opened) => {
    opened.highWater = 1;
    opened.freeze();
  });
  for (let n = 0; n < 32; n++) send(socket, { type: "ping" });
  expect(socket.closed).toBeUndefined();
  send(socket, { type: "ping" });
  expect([socket.closed, socket.writes.length]).toEqual(["rate-limited", 1]);
});

test("[W21] too many rejections at once close the connection; one per second does not", ({ sut }) => {
  const patient = sut.open({ channels: ["status"] });
  for (let n = 0; n < 60; n++) {
    patient.session?.receiveText("?");
    sut.clock.advance(1_000);
  }
  expect(patient.closed).toBeUndefined();
  const socket = sut.open();
  for (let n = 0; n < 10; n++) socket.session?.receiveText("?");
  expect([socket.of("error").length, socket.closed]).toEqual([10, undefined]);
  socket.session?.receiveText("?");
  expect(socket.closed).toBe("bad-request");
  socket.session?.receiveText("?");
  expect(socket.of("error").length).toBe(10);
});

test("[W22] ids of subscriptions are unique in a connection, which has at most 64 subscriptions", ({
  sut,
}) => {
  const socket = sut.open();
  for (let n = 0; n < 64; n++) {
    send(socket, { type: "subscribe", id: n, channels: ["status"] });
    sut.clock.advance(200);
  }
  expect(last(socket)).toMatchObject({ type: "subscribed", id: 63 });
  send(socket, { type: "subscribe", id: 3, channels: ["status"] });
  expect(last(socket)).toMatchObject({ type: "error", id: 3, code: "duplicate-subscription", field: "id" });
  send(socket, { type: "subscribe", id: 64, channels: ["status"] });
  expect(last(socket)).toMatchObject({ type: "error", id: 64, code: "too-many-subscriptions" });
  expect(last(socket)?.message).toContain("64");
});

test("[W22] a client that does not subscribe in time is closed; one that did is not, even after it ends its subscriptions", ({
  sut,
}) => {
  const silent = sut.open();
  const byUrl = sut.open({ channels: ["status"] });
  const done = sut.open({ channels: ["status"] });
  send(done, { type: "unsubscribe", id: "url" });
  sut.clock.advance(5_000);
  send(silent, { type: "ping" });
  sut.clock.advance(4_000);
  expect(silent.closed).toBeUndefined();
  sut.clock.advance(1_000);
  expect([silent.closed, byUrl.closed, done.closed]).toEqual(["no-command", undefined, undefined]);
});

test("[W20] [W26] commands after the close are ignored, do not delay the termination, and are not counted", ({
  sut,
}) => {
  const socket = sut.open({}, (opened) => {
    opened.isDeflated = true;
  });
  socket.session?.oversize();
  for (let halfSecond = 0; halfSecond < 4; halfSecond++) {
    expect(socket.terminated).toBe(false);
    for (let n = 0; n < 50; n++) send(socket, { type: "ping" });
    socket.session?.oversize();
    sut.clock.advance(500);
  }
  expect([socket.closed, socket.terminated]).toEqual(["message-too-big", true]);
  const { counters } = sut.hub;
  expect([counters.open.websocket, counters.openDeflated]).toEqual([1, 1]);
  socket.end();
  const counted = Object.entries(counters.closed).filter(([, count]) => count > 0);
  expect(counted).toEqual([["message-too-big", 1]]);
  expect([counters.open.websocket, counters.openDeflated]).toEqual([0, 0]);
});
