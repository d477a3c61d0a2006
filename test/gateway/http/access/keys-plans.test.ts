import { expect } from "vitest";
import { matchChannels } from "../../../../src/base/protocol/index.ts";
import { SseClient } from "../../../support/clients/sse-client.ts";
import { HANDSHAKE } from "../stream/websocket-fixture.ts";
import { type Keyed, test } from "./keyed-fixture.ts";

const FREE_CHANNELS = matchChannels("*").filter((channel) => channel !== "flares.pro");
const RESOURCES = ["flares", "newest", "charts", "leaderboards", "snapshot"];

async function status(keyed: Keyed, path: string, headers: Record<string, string> = {}, method = "GET") {
  const { message, body } = await keyed.wire.ask(path, headers, method);
  return {
    status: message.statusCode,
    headers: message.headers,
    json: body === "" ? undefined : JSON.parse(body),
  };
}

test("[K1] without a key the plan is free; with a key it is the key's", async ({ keyed }) => {
  for (const [headers, plan] of [
    [{}, "free"],
    [keyed.bearer("free"), "free"],
    [keyed.bearer("pro"), "pro"],
    [{ authorization: keyed.bearer("pro").authorization?.replace("Bearer", "bearer ") ?? "" }, "pro"],
  ] as const) {
    expect((await status(keyed, "/api/v1/flares", headers)).headers["flarewire-plan"]).toBe(plan);
    const client = keyed.wire.client("?channels=*", [], { headers });
    expect(await client.answer("hello")).toMatchObject({ plan });
    client.ws.close();
  }
});

test("[K1] an invalid key is rejected on every path, and never ignored", async ({ makeKeyed }) => {
  const keyed = await makeKeyed({ keys: { old: { expires_at: "2025-12-31T23:59:59Z" }, pro: {} } });
  const other = keyed.secret("never written");
  const good = keyed.secret("pro");
  const swapped = `${good.slice(0, 12)}${other.slice(12)}`;
  const wrong = [
    `Bearer ${other}`,
    `Bearer ${swapped}`,
    `Bearer ${good}x`,
    `Bearer ${good.slice(0, -1)}`,
    `Bearer ${good.toUpperCase()}`,
    `Bearer ${keyed.secret("old")}`,
    `Basic ${good}`,
    `Bearer`,
    `Bearer ${good} ${good}`,
    "",
  ];
  const paths = [...RESOURCES, "events", "events?wait=1", "stream?channels=*"].map(
    (name) => `/api/v1/${name}`,
  );
  for (const authorization of wrong) {
    for (const path of paths) {
      const handshake = path.includes("stream") ? HANDSHAKE : {};
      const answer = await status(keyed, path, { authorization, ...handshake });
      expect(answer, `${authorization} ${path}`).toMatchObject({
        status: 401,
        headers: { "www-authenticate": 'Bearer realm="flarewire"', "cache-control": "no-store" },
        json: { type: "urn:flarewire:problem:unauthorized", field: "Authorization" },
      });
      expect(JSON.stringify(answer.json)).not.toContain(good.slice(12));
    }
  }
  expect(
    (await status(keyed, "/api/v1/flares", { authorization: `Bearer ${keyed.secret("old")}` })).json.detail,
  ).toBe("the key expired at 2025-12-31T23:59:59Z");
});

test("[K1] with anonymous off, a client without a key is rejected, but may check health", async ({
  makeKeyed,
}) => {
  const keyed = await makeKeyed({ anonymous: "off" });
  for (const name of [...RESOURCES, "events", "stream"]) {
    const handshake = name === "stream" ? HANDSHAKE : {};
    const answer = await status(keyed, `/api/v1/${name}`, handshake);
    expect(answer).toMatchObject({
      status: 401,
      json: { detail: expect.stringContaining("Authorization: Bearer KEY") },
    });
    expect(answer.headers["www-authenticate"]).toBe('Bearer realm="flarewire"');
  }
  for (const path of ["/healthz", "/readyz"]) expect((await status(keyed, path)).status).toBe(200);
  expect((await status(keyed, "/api/v1/flares", keyed.bearer("free"))).status).toBe(200);
});

test("[K2] a pattern selects the plan's channels, over every transport", async ({ keyed }) => {
  const { wire } = keyed;
  await wire.publish("flare", "list");
  for (const [pattern, expected] of [
    ["*", FREE_CHANNELS],
    ["flares.*", ["flares.free", "flares.finished"]],
  ] as const) {
    const client = wire.client(`?channels=${pattern}`);
    const answer = await client.answer("subscribed");
    expect(answer.channels).toEqual(expected);
    expect(Object.keys((answer.snapshot as { flares: object }).flares)).toEqual([
      "free",
      "finished_trending",
    ]);
    client.ws.close();
    const sse = await SseClient.open(`http://127.0.0.1:${wire.port}/api/v1/events?channels=${pattern}`);
    await sse.until(() => sse.messages("subscribed").length > 0);
    expect(sse.messages("subscribed")).toMatchObject([{ channels: expected }]);
    sse.cut();
  }
  const page = await status(keyed, "/api/v1/events?after=oldest");
  expect(page.json.events.map(({ name }: { name: string }) => name)).toEqual(["token-listed"]);
  expect(page.json.events[0].prev).toBe(0);
  const fullPage = await status(keyed, "/api/v1/events?after=oldest", keyed.bearer("pro"));
  expect(fullPage.json.events.map(({ name }: { name: string }) => name)).toEqual([
    "flare-started",
    "token-listed",
  ]);
});

test("[K2] a channel outside the plan is rejected with forbidden before an upgrade, stream or page", async ({
  keyed,
}) => {
  for (const [path, fields] of [
    ["/api/v1/stream?channels=flares.pro", HANDSHAKE],
    ["/api/v1/stream?channels=*,flares.pro", HANDSHAKE],
    ["/api/v1/events?channels=flares.pro", { accept: "text/event-stream" }],
    ["/api/v1/events?channels=flares.pro", {}],
    ["/api/v1/events?channels=flares.pro&wait=5", {}],
    ["/api/v1/events?channels=flares.pro&min_liquidity=1&after=oldest", {}],
  ] as const) {
    for (const bearer of [{}, keyed.bearer("free")]) {
      expect(await status(keyed, path, { ...fields, ...bearer }), path).toMatchObject({
        status: 403,
        json: {
          type: "urn:flarewire:problem:forbidden",
          field: "channels",
          detail: expect.stringContaining('use a key with the "pro" plan'),
        },
      });
    }
  }
  const client = keyed.wire.client("?channels=flares.pro", [], { headers: keyed.bearer("pro") });
  expect(await client.answer("subscribed")).toMatchObject({ channels: ["flares.pro"] });
});

test("[K2] the command is rejected with an error that names the field, and the connection stays open", async ({
  keyed,
}) => {
  const client = keyed.wire.client();
  await client.answer("hello");
  client.send({ type: "subscribe", id: 1, channels: ["newest.bsc", "flares.pro"] });
  expect(await client.answer("error", 1)).toMatchObject({ code: "forbidden", field: "channels" });
  client.send({ type: "subscribe", id: 2, channels: ["flares.*"] });
  expect(await client.answer("subscribed", 2)).toMatchObject({
    channels: ["flares.free", "flares.finished"],
  });
  await keyed.wire.publish("flare", "status");
  client.send({ type: "subscribe", id: 3, channels: ["status"] });
  await client.answer("subscribed", 3);
  expect(client.seqs).toEqual([]);
});

test("[K7] a raised plan applies to the next connection; an existing one keeps its plan", async ({
  makeKeyed,
}) => {
  const keyed = await makeKeyed({ keys: { some: { plan: "free" } } });
  const before = keyed.wire.client("?channels=*", [], { headers: keyed.bearer("some") });
  await before.answer("subscribed");
  keyed.write({ some: { plan: "pro" } });
  await keyed.pass(1);
  const after = keyed.wire.client("?channels=flares.pro", [], { headers: keyed.bearer("some") });
  await after.answer("subscribed");
  before.send({ type: "subscribe", id: 1, channels: ["flares.pro"] });
  expect(await before.answer("error", 1)).toMatchObject({ code: "forbidden" });
  await keyed.wire.publish("flare");
  await after.until(() => after.seqs.length === 1);
  expect(before.seqs).toEqual([]);
});

test("[K2] on a server without keys, clients have no plan and may read everything, whatever Authorization contains", async ({
  wire,
}) => {
  const headers = { authorization: "Bearer nonsense" };
  const client = wire.client("?channels=*", [], { headers });
  expect((await client.answer("subscribed")).channels).toEqual(matchChannels("*"));
  expect(await client.answer("hello")).not.toHaveProperty("plan");
  const { message } = await wire.ask("/api/v1/flares", headers);
  expect(message.statusCode).toBe(200);
  expect(message.headers).not.toHaveProperty("flarewire-plan");
  expect(message.headers.vary).toBe("Accept-Encoding");
});

test("[F2] [K2] a plan that lacks a channel may not mirror, because a mirror serves all channels to others", async ({
  keyed,
}) => {
  const mirrorPath = "/api/v1/stream?channels=*&mirror=true";
  const refused = await status(keyed, mirrorPath, { ...keyed.bearer("free"), ...HANDSHAKE });
  expect(refused).toMatchObject({ status: 403, json: { field: "mirror" } });
  const free = keyed.wire.client("", [], { headers: keyed.bearer("free") });
  await free.answer("hello");
  free.ws.send('{"type":"subscribe","id":1,"channels":["*"],"mirror":true}');
  expect(await free.answer("error")).toMatchObject({ id: 1, code: "forbidden", field: "mirror" });
  free.ws.close();
  const pro = keyed.wire.client("?channels=*&mirror=true", [], { headers: keyed.bearer("pro") });
  expect(await pro.answer("subscribed")).toMatchObject({ base: {} });
  pro.ws.close();
});
