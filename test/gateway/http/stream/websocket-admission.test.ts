import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import { expect } from "vitest";
import { ERROR_CODES, type ErrorCode } from "../../../../src/base/protocol/index.ts";
import { COME_BACK_S, HANDSHAKE, handshake, test } from "./websocket-fixture.ts";

const STREAM = "/api/v1/stream";

const REFUSED: readonly (readonly [string, Record<string, string>, ErrorCode, string | undefined])[] = [
  ["?channels=flares", {}, "unknown-channel", "channels"],
  ["?channels=", {}, "unknown-channel", "channels"],
  ["?channels=flares.pro,,status", {}, "unknown-channel", "channels"],
  [`?channels=${"status,".repeat(64)}status`, {}, "invalid-parameter", "channels"],
  ["?channels=*&after=nonsense", {}, "invalid-parameter", "after"],
  ["?channels=*&after=a-1&after=a-2", {}, "invalid-parameter", "after"],
  ["?after=test1-0", {}, "invalid-parameter", "after"],
  ["?channels=*&snapshot=perhaps", {}, "invalid-parameter", "snapshot"],
  ["?channels=*&filter=x", {}, "invalid-parameter", "filter"],
  ["?channels=*&tokens=ab", {}, "invalid-parameter", "tokens"],
  [`?channels=*&symbols=${"a,".repeat(64)}a`, {}, "invalid-parameter", "symbols"],
  ["?channels=*&min_liquidity=much", {}, "invalid-parameter", "min_liquidity"],
  ["?channels=*&min_liquidity=-1", {}, "invalid-parameter", "min_liquidity"],
  ["?channels=*&min_price_change=1&min_price_change=2", {}, "invalid-parameter", "min_price_change"],
  ["?channels=*&names=flare-began", {}, "invalid-parameter", "names"],
  ["?client=short", {}, "invalid-parameter", "client"],
  ["?client=with%20space", {}, "invalid-parameter", "client"],
  [`?client=${"x".repeat(65)}`, {}, "invalid-parameter", "client"],
  ["?client=abcdefgh&client=abcdefgh", {}, "invalid-parameter", "client"],
  ["?symbols=a", {}, "invalid-parameter", "symbols"],
  ["?mode=latest", {}, "invalid-parameter", "mode"],
  ["?snapshot=false", {}, "invalid-parameter", "snapshot"],
  ["?mirror=true", {}, "invalid-parameter", "mirror"],
  ["?channels=*&sticky=true", {}, "invalid-parameter", "sticky"],
  ["?channels=*&sticky=false", {}, "invalid-parameter", "sticky"],
  ["?channels=*&sticky=true&names=flare-started", {}, "invalid-parameter", "sticky"],
  ["?channels=*&mode=newest", {}, "invalid-parameter", "mode"],
  ["", { "sec-websocket-protocol": "flarewire.v9" }, "unsupported-version", "Sec-WebSocket-Protocol"],
  ["", { "sec-websocket-protocol": "a,,b" }, "invalid-parameter", "Sec-WebSocket-Protocol"],
  [
    "",
    { "sec-websocket-protocol": "flarewire.v1, flarewire.v1" },
    "invalid-parameter",
    "Sec-WebSocket-Protocol",
  ],
  ["", { "sec-websocket-key": "short" }, "invalid-parameter", "Sec-WebSocket-Key"],
  ["", { "sec-websocket-version": "8" }, "upgrade-required", "Sec-WebSocket-Version"],
  ["", { origin: "https://evil.example" }, "origin-refused", "Origin"],
];

test("[W3] a request that cannot become a connection is rejected in HTTP, with a problem that names the field", async ({
  makeWire,
}) => {
  const wire = await makeWire({ stream: { allowedOrigins: ["https://good.example"] } });
  for (const [query, headers, code, field] of REFUSED) {
    const { message, body } = await wire.ask(`${STREAM}${query}`, { ...HANDSHAKE, ...headers });
    const seen = `${query} ${JSON.stringify(headers)}`;
    expect(message.statusCode, seen).toBe(ERROR_CODES[code].status);
    expect(message.headers["content-type"], seen).toBe("application/problem+json");
    expect(message.headers.connection, seen).toMatch(/\bclose$/);
    expect(JSON.parse(body), seen).toMatchObject({ type: expect.stringContaining(code), field });
  }
  await wire.sessions(0);
});

test("[W3] a handshake that is refused for its URL leaves no connection open", async ({ wire }) => {
  for (const query of ["?min_pricechange=5", `?channels=${"a".repeat(9_000)}`, "?api_key=abc"]) {
    const socket = connect(wire.port, "127.0.0.1");
    socket.write(handshake(`${STREAM}${query}`));
    // Resolves when the connection ends.
    const text = Buffer.concat(await socket.toArray()).toString();
    expect(text).toMatch(/^HTTP\/1.1 4(00|14) /);
  }
});

test.for([
  ["in HTTP/1.0", (text: string) => text.replace("HTTP/1.1", "HTTP/1.0"), 426, "upgrade-required"],
  [
    "with a body",
    (text: string) => text.replace(/\r\n$/, "content-length: 5\r\n\r\nhello"),
    400,
    "invalid-parameter",
  ],
  [
    "with a chunked body",
    (text: string) => text.replace(/\r\n$/, "transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"),
    400,
    "invalid-parameter",
  ],
] as const)("[W3] a handshake %s is refused", async ([, change, status, code], { wire }) => {
  const socket = connect(wire.port, "127.0.0.1");
  socket.write(change(handshake(STREAM)));
  const [answer] = await once(socket, "data");
  expect(String(answer)).toMatch(new RegExp(`^HTTP/1.1 ${status} [^]*urn:flarewire:problem:${code}`));
  socket.destroy();
  await wire.sessions(0);
});

test("[W3] after 426, the connection ends if the client requested it, and otherwise stays open", async ({
  wire,
}) => {
  for (const version of ["1.1\r\nConnection: close", "1.0"]) {
    const socket = connect(wire.port, "127.0.0.1");
    socket.end(`GET /api/v1/stream HTTP/${version}\r\nHost: a\r\n\r\n`);
    const text = Buffer.concat(await socket.toArray()).toString();
    expect(text).toContain("HTTP/1.1 426 ");
    expect(text).toContain("\r\nconnection: upgrade, close\r\n");
  }
  const { message } = await wire.ask(STREAM, { connection: "keep-alive" });
  expect([message.statusCode, message.headers.connection]).toEqual([426, "upgrade"]);
});

test("[W3] a handshake before the end of the previous response is answered after it with 426, and the connection ends", async ({
  wire,
}) => {
  for (const before of ["/api/v1/newest", "/api/v1/events?limit=1", "/nowhere"]) {
    const socket = connect(wire.port, "127.0.0.1");
    socket.write(`GET ${before} HTTP/1.1\r\nHost: a\r\n\r\n${handshake(STREAM)}`);
    const text = Buffer.concat(await socket.toArray()).toString();
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual([expect.stringMatching(/200|404/), "HTTP/1.1 426"]);
  }
});

test("[W3] a handshake with another method than GET is answered like a plain request, and its connection serves the next one", async ({
  wire,
}) => {
  for (const [method, status] of [
    ["HEAD", 405],
    ["POST", 405],
    ["OPTIONS", 204],
  ]) {
    const socket = connect(wire.port, "127.0.0.1");
    socket.write(handshake(STREAM).replace(/^GET/, String(method)));
    const [answer] = await once(socket, "data");
    expect(String(answer)).toMatch(`HTTP/1.1 ${status} `);
    socket.write("GET /api/v1/newest HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    expect(Buffer.concat(await socket.toArray()).toString()).toMatch("HTTP/1.1 200 ");
  }
});

test("[W1] [W3] the URL may be absolute, or encoded without need", async ({ makeWire }) => {
  for (const basePath of ["", "/fw"]) {
    const wire = await makeWire({ basePath });
    for (const target of [
      `http://example.org${basePath}/api/v1/stream?channels=*`,
      `${basePath}/api/v1/str%65am?channels=*`,
    ]) {
      const socket = connect(wire.port, "127.0.0.1");
      socket.write(handshake(target));
      const [answer] = await once(socket, "data");
      expect(String(answer), target).toMatch(/^HTTP\/1\.1 101 /);
      socket.destroy();
    }
    const lost = connect(wire.port, "127.0.0.1");
    lost.write(handshake(`${basePath}/api/v1/stream%E0%A4%A`));
    const [answer] = await once(lost, "data");
    expect(String(answer)).toMatch(/^HTTP\/1\.1 400 /);
    lost.destroy();
  }
});

test("[W3] a request without upgrade gets 426 with the protocol", async ({ wire }) => {
  for (const headers of [{}, { connection: "Upgrade", upgrade: "h2c" }]) {
    const { message, body } = await wire.ask(STREAM, headers);
    expect([message.statusCode, message.headers.upgrade]).toEqual([426, "websocket"]);
    expect(JSON.parse(body).type).toContain("upgrade-required");
  }
  const { message } = await wire.ask(STREAM, { ...HANDSHAKE, "sec-websocket-version": "14" });
  expect([message.statusCode, message.headers["sec-websocket-version"]]).toEqual([426, "13"]);
});

test("[W3] pages of an allowed origin and programs without one may connect", async ({ makeWire }) => {
  const wire = await makeWire({ stream: { allowedOrigins: ["https://good.example"] } });
  await wire.client("", [], { origin: "https://good.example" }).answer("hello");
  await wire.client().answer("hello");
  const open = await makeWire({ stream: { allowedOrigins: ["*"] } });
  await open.client("", [], { origin: "https://any.example" }).answer("hello");
});

test("[W2] the version is negotiated; a client that offers none is served too", async ({ wire }) => {
  for (const [offered, chosen] of [
    [[], ""],
    [["flarewire.v1"], "flarewire.v1"],
    [["flarewire.v9", "flarewire.v1"], "flarewire.v1"],
  ] as const) {
    const client = wire.client("", offered);
    expect(await client.answer("hello")).toMatchObject({ protocol: "flarewire.v1" });
    expect(client.ws.protocol).toBe(chosen);
  }
});

test("[W3] above the limits, a connection is refused before the upgrade, until another one ends", async ({
  makeWire,
}) => {
  const wire = await makeWire({ stream: { limits: { maxSockets: 3, maxSocketsPerIp: 2 } } });
  const first = wire.client();
  await first.answer("hello");
  await wire.client().answer("hello");
  const refused = await wire.ask(STREAM, HANDSHAKE);
  expect(refused.message.statusCode).toBe(503);
  expect(Number(refused.message.headers["retry-after"])).toBeGreaterThan(0);
  expect(JSON.parse(refused.body).detail).toContain("2 from one address");
  first.ws.close();
  await first.ended;
  await wire.sessions(1);
  await wire.client().answer("hello");
});

test("[W3] a handshake that fails frees its slot", async ({ makeWire }) => {
  const wire = await makeWire({ stream: { limits: { maxSockets: 1 } } });
  for (let attempt = 0; attempt < 3; attempt++) {
    const outgoing = request({
      host: "127.0.0.1",
      port: wire.port,
      path: STREAM,
      headers: HANDSHAKE,
      agent: false,
    }).end();
    const [, socket] = await once(outgoing, "upgrade");
    await wire.sessions(1);
    socket.destroy();
    await wire.sessions(0);
  }
  await wire.client().answer("hello");
});

test("[W3] without data, and while draining, a handshake is refused with Retry-After", async ({
  makeWire,
}) => {
  const wire = await makeWire({ ready: false });
  const early = await wire.ask(STREAM, HANDSHAKE);
  expect([early.message.statusCode, JSON.parse(early.body).type]).toEqual([
    503,
    expect.stringContaining("not-ready"),
  ]);
  expect(early.message.headers["retry-after"]).toMatch(COME_BACK_S);
  await wire.publish("list");
  await wire.client().answer("hello");
  const drained = wire.hub.drain(0);
  const late = await wire.ask(STREAM, HANDSHAKE);
  expect([late.message.statusCode, JSON.parse(late.body).type]).toEqual([
    503,
    expect.stringContaining("draining"),
  ]);
  await wire.sessions(0);
  wire.clock.advance(1_000);
  await drained;
});

test("an upgrade to another protocol or at another path is handled as HTTP, and the connection stays open", async ({
  wire,
}) => {
  for (const headers of [{ connection: "Upgrade", upgrade: "h2c" }, HANDSHAKE]) {
    const { message, body } = await wire.ask("/api/v1/newest", headers);
    expect([message.statusCode, JSON.parse(body)]).toEqual([200, { bsc: [] }]);
  }
  const { message } = await wire.ask("/nowhere", HANDSHAKE);
  expect(message.statusCode).toBe(404);
});

test("the stream is below the base path", async ({ makeWire }) => {
  const wire = await makeWire({ basePath: "/flarewire" });
  await wire.client().answer("hello");
});
