import { rmSync, writeFileSync } from "node:fs";
import { expect } from "vitest";
import { CLOSE_CODES, type CloseReason } from "../../../../src/base/protocol/index.ts";
import { SseClient } from "../../../support/clients/sse-client.ts";
import { HANDSHAKE } from "../stream/websocket-fixture.ts";
import { type Keyed, type KeySpecs, test } from "./keyed-fixture.ts";

const end = (reason: CloseReason) => ({ code: CLOSE_CODES[reason].code, reason });

/** Opens one connection of each transport with the key, at the head and following. */
async function follow(keyed: Keyed, name: string) {
  const { wire } = keyed;
  const headers = keyed.bearer(name);
  const client = wire.client("?channels=status", [], { headers });
  const url = `http://127.0.0.1:${wire.port}/api/v1/events?channels=status`;
  const stream = await SseClient.open(url, headers);
  await client.answer("subscribed");
  const waiting = wire.ask(
    `/api/v1/events?channels=status&wait=60&after=test1-${wire.head.cursor.seq}`,
    headers,
  );
  return { client, stream, waiting };
}

async function expectEnds(
  { client, stream, waiting }: Awaited<ReturnType<typeof follow>>,
  reason: CloseReason,
) {
  expect(await client.ended).toEqual(end(reason));
  await stream.ended;
  expect(stream.messages("close")).toEqual([{ type: "close", action: "stop", ...end(reason) }]);
  const { message, body } = await waiting;
  expect(message.statusCode).toBe(reason === "forbidden" ? 403 : 401);
  expect(JSON.parse(body).type).toBe(`urn:flarewire:problem:${reason}`);
}

for (const [what, after, reason] of [
  ["is revoked", {}, "unauthorized"],
  ["has another secret under its id", { some: { sha256: "0".repeat(64) } }, "unauthorized"],
  ["has fewer channels", { some: { channels: ["newest.*", "status"], connections: 3 } }, "forbidden"],
  ["has a lower plan", { some: { plan: "free", connections: 3 } }, "forbidden"],
] as const satisfies readonly (readonly [string, KeySpecs, CloseReason])[]) {
  test(`[K7] when a key ${what}, all of its connections end, and no others`, async ({ makeKeyed }) => {
    const keyed = await makeKeyed({ keys: { some: { connections: 3 }, other: {} } });
    const other = keyed.wire.client("?channels=status", [], { headers: keyed.bearer("other") });
    await other.answer("subscribed");
    const open = await follow(keyed, "some");
    await keyed.holdsSlot(4);
    keyed.write({ ...after, other: {} });
    await keyed.pass(1);
    await expectEnds(open, reason);
    other.send({ type: "ping", id: "alive" });
    await other.answer("pong", "alive");
  });
}

test("[K7] when a key expires, all of its connections end", async ({ makeKeyed }) => {
  const expires_at = new Date(Date.UTC(2026, 0, 1) + 5_000).toISOString();
  const keyed = await makeKeyed({ keys: { some: { expires_at, connections: 3 } } });
  const open = await follow(keyed, "some");
  await keyed.holdsSlot(3);
  await keyed.pass(4);
  open.client.send({ type: "ping", id: "alive" });
  await open.client.answer("pong", "alive");
  await keyed.pass(1);
  await expectEnds(open, "unauthorized");
});

test("[K6] a key has a limit of connections, including waiting requests; a connection that ends frees its slot", async ({
  makeKeyed,
}) => {
  const keyed = await makeKeyed({ keys: { some: { connections: 3 }, other: {} } });
  const { client } = await follow(keyed, "some");
  await keyed.holdsSlot(3);
  const refused = await keyed.wire.ask("/api/v1/events?wait=1&after=test1-0", keyed.bearer("some"));
  expect(refused.message.statusCode).toBe(503);
  expect(refused.message.headers).toHaveProperty("retry-after");
  expect(JSON.parse(refused.body)).toMatchObject({ bound: "3 with one key" });
  const other = keyed.wire.client("?channels=status", [], { headers: keyed.bearer("other") });
  await other.answer("subscribed");
  client.ws.close();
  await client.ended;
  await keyed.holdsSlot(3);
  const again = keyed.wire.client("?channels=status", [], { headers: keyed.bearer("some") });
  await again.answer("subscribed");
  await keyed.wire.publish("status");
});

test("[K6] a key has a limit of requests a minute, and responses state the remaining number", async ({
  makeKeyed,
}) => {
  const keyed = await makeKeyed({ keys: { some: { requests_per_minute: 3 }, other: {} } });
  const ask = (path = "/api/v1/flares", fields = {}) =>
    keyed.wire.ask(path, { ...fields, ...keyed.bearer("some") });
  const reported = (left: number, resetS: number) => ({
    "ratelimit-policy": '"key";q=3;w=60',
    ratelimit: `"key";r=${left};t=${resetS}`,
  });
  expect((await ask()).message.headers).toMatchObject(reported(2, 20));
  expect((await ask("/api/v1/events")).message.headers).toMatchObject(reported(1, 40));
  expect((await ask("/api/v1/events?limit=0")).message.headers).toMatchObject(reported(0, 60));
  for (const [path, fields] of [
    ["/api/v1/flares", {}],
    ["/api/v1/stream", HANDSHAKE],
    ["/api/v1/events", { accept: "text/event-stream" }],
  ] as const) {
    const { message, body } = await ask(path, fields);
    expect(message.statusCode).toBe(429);
    expect(message.headers).toMatchObject({ ...reported(0, 60), "retry-after": "20" });
    expect(JSON.parse(body)).toMatchObject({
      type: "urn:flarewire:problem:rate-limited",
      bound: "3 requests a minute",
    });
  }
  expect((await keyed.wire.ask("/api/v1/flares", keyed.bearer("other"))).message.statusCode).toBe(200);
  expect((await keyed.wire.ask("/api/v1/flares")).message.statusCode).toBe(200);
  keyed.clock.advance(20_000);
  expect((await ask()).message.statusCode).toBe(200);
  expect((await ask()).message.statusCode).toBe(429);
  keyed.write({ some: { requests_per_minute: 2 }, other: {} });
  await keyed.pass(1);
  expect((await ask()).message.headers).toMatchObject({ "ratelimit-policy": '"key";q=2;w=60' });
});

test("[W32] the same client id with another key replaces no connection", async ({ keyed }) => {
  const open = (headers: Record<string, string>) =>
    keyed.wire.client("?channels=status&client=desk-1234", [], { headers });
  const clients = [open({}), open(keyed.bearer("free")), open(keyed.bearer("pro"))];
  for (const client of clients) await client.answer("subscribed");
  for (const client of clients) {
    client.send({ type: "ping", id: "alive" });
    await client.answer("pong", "alive");
  }
  const [, , before] = clients;
  await open(keyed.bearer("pro")).answer("subscribed");
  expect(await before?.ended).toEqual(end("superseded"));
});

test("if the file becomes invalid, the previous keys stay in use, and one log line without secrets reports it", async ({
  keyed,
}) => {
  const works = async (name: string) =>
    (await keyed.wire.ask("/api/v1/flares", keyed.bearer(name))).message.statusCode === 200;
  const reported = () => {
    const lines = keyed.lines.splice(0).map((line) => JSON.parse(line));
    return lines.filter(({ audit }) => audit === undefined);
  };
  const client = keyed.wire.client("?channels=*", [], { headers: keyed.bearer("pro") });
  await client.answer("subscribed");
  reported();
  for (const [broken, reason] of [
    ["", "it is empty; it must be"],
    [
      `{"keys": [{"id": "${keyed.secret("pro")}"`,
      "it is not JSON (line 1, column 75: Expected ',' or '}' after property value); it must be",
    ],
    [`{"keys": [{"id": "${keyed.secret("pro")}"}]}`, "keys[0].id is "],
    [undefined, "there is no such file"],
  ] as const) {
    if (broken === undefined) rmSync(keyed.file);
    else writeFileSync(keyed.file, broken);
    await keyed.pass(5);
    const lines = reported();
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({
      level: "error",
      reason: expect.stringContaining(`${keyed.file}: ${reason}`),
    });
    expect(JSON.stringify(lines)).not.toContain(keyed.secret("pro"));
    expect(await works("pro")).toBe(true);
  }
  client.send({ type: "ping", id: "alive" });
  await client.answer("pong", "alive");
  keyed.write({ pro: {} });
  await keyed.pass(5);
  expect(reported().map(({ msg, revoked }) => [msg, revoked])).toEqual([
    ["reloaded the key file", [keyed.id("free")]],
    ["closing the connections of a key", undefined],
  ]);
  expect([await works("pro"), await works("free")]).toEqual([true, false]);
});

test("a file that is written in two steps is not reported as invalid", async ({ keyed }) => {
  keyed.lines.length = 0;
  writeFileSync(keyed.file, '{"keys": [');
  await keyed.pass(1);
  writeFileSync(keyed.file, '{"keys": []}');
  await keyed.pass(3);
  expect(keyed.lines.map((line) => JSON.parse(line).msg)).toEqual([
    "reloaded the key file",
    "closing the connections of a key",
    "closing the connections of a key",
  ]);
  expect((await keyed.wire.ask("/api/v1/flares", keyed.bearer("pro"))).message.statusCode).toBe(401);
});
