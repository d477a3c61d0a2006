import { expect } from "vitest";
import { TICKET_MS, TICKETS_OF_KEY } from "../../../../src/gateway/keys/index.ts";
import { SseClient } from "../../../support/clients/sse-client.ts";
import { validateResponse } from "../../../support/expect/validate-response.ts";
import { HANDSHAKE } from "../stream/websocket-fixture.ts";
import { type Keyed, test } from "./keyed-fixture.ts";

const SSE = { accept: "text/event-stream" };

async function post(keyed: Keyed, headers: Record<string, string> = {}, path = "/api/v1/tickets") {
  const { message, body } = await keyed.wire.ask(path, headers, "POST");
  return { status: message.statusCode, headers: message.headers, json: JSON.parse(body) };
}

test("[K4] a ticket opens one WebSocket or one stream with its key's rights, and no second", async ({
  keyed,
}) => {
  const { wire } = keyed;
  const ticket = await keyed.ticket("pro");
  const client = wire.client(`?channels=flares.pro&ticket=${ticket}`);
  expect(await client.answer("hello")).toMatchObject({ plan: "pro" });
  const again = await wire.ask(`/api/v1/stream?channels=status&ticket=${ticket}`, HANDSHAKE);
  expect(again.message.statusCode).toBe(401);
  expect(JSON.parse(again.body)).toMatchObject({
    field: "ticket",
    detail: expect.stringContaining("get a new one"),
  });
  const second = await keyed.ticket("pro");
  const url = `http://127.0.0.1:${wire.port}/api/v1/events?channels=flares.pro&ticket=${second}`;
  const stream = await SseClient.open(url);
  await expect(SseClient.open(url)).rejects.toThrow("401");
  await wire.publish("flare");
  await Promise.all([
    client.until(() => client.seqs.length === 1),
    stream.until(() => stream.seqs.length === 1),
  ]);
  stream.cut();
});

test("[K4] a ticket states its end, which is at most a minute ahead, and opens nothing from then on", async ({
  keyed,
}) => {
  const { status, headers, json } = await post(keyed, {
    ...keyed.bearer("pro"),
    "content-type": "application/json",
  });
  expect({ status, headers, json }).toMatchObject({
    status: 201,
    headers: { "cache-control": "no-store" },
    json: { expires_at: new Date(keyed.clock.now() + TICKET_MS).toISOString() },
  });
  expect(TICKET_MS).toBeLessThanOrEqual(60_000);
  const path = `/api/v1/stream?ticket=${json.ticket}&channels=`;
  keyed.clock.advance(TICKET_MS - 1);
  // Refused for another reason, so the ticket is not used up.
  expect((await keyed.wire.ask(`${path}flares.nope`, HANDSHAKE)).message.statusCode).toBe(400);
  keyed.clock.advance(1);
  expect((await keyed.wire.ask(`${path}flares.nope`, HANDSHAKE)).message.statusCode).toBe(401);
});

test("[K4] a connection that is refused for another reason leaves the ticket unused", async ({
  makeKeyed,
}) => {
  const keyed = await makeKeyed({ maxSockets: 1 });
  const ticket = await keyed.ticket("pro");
  const holder = keyed.wire.client("?channels=status");
  await holder.answer("subscribed");
  for (const [path, fields, status] of [
    [`/api/v1/stream?ticket=${ticket}`, HANDSHAKE, 503],
    [`/api/v1/stream?channels=nope&ticket=${ticket}`, HANDSHAKE, 400],
    [`/api/v1/events?after=nope&ticket=${ticket}`, SSE, 400],
    [`/api/v1/events?ticket=${ticket}`, SSE, 503],
  ] as const) {
    expect((await keyed.wire.ask(path, fields)).message.statusCode, path).toBe(status);
  }
  holder.ws.close();
  await holder.ended;
  await keyed.holdsSlot(0);
  const client = keyed.wire.client(`?channels=flares.pro&ticket=${ticket}`);
  await client.answer("subscribed");
});

test("[K4] an invalid ticket, or one of a revoked key, opens nothing; Authorization overrides it", async ({
  keyed,
}) => {
  const ticket = await keyed.ticket("pro");
  for (const wrong of [
    "",
    "x",
    `${ticket}x`,
    ticket.slice(0, -1),
    keyed.secret("pro").replace("fw_", "fwt_"),
    `${ticket}&ticket=${ticket}`,
  ]) {
    for (const fields of [HANDSHAKE, SSE]) {
      const path = fields === SSE ? "events" : "stream";
      const { message } = await keyed.wire.ask(`/api/v1/${path}?channels=status&ticket=${wrong}`, fields);
      expect(message.statusCode, wrong).toBe(401);
    }
  }
  const client = keyed.wire.client("?channels=*&ticket=nonsense", [], { headers: keyed.bearer("free") });
  expect(await client.answer("hello")).toMatchObject({ plan: "free" });
  keyed.write({ free: { plan: "free" } });
  await keyed.pass(1);
  const { message, body } = await keyed.wire.ask(
    `/api/v1/stream?channels=status&ticket=${ticket}`,
    HANDSHAKE,
  );
  const { statusCode: status = 0, headers } = message;
  expect(status).toBe(401);
  expect(body).toContain("revoked");
  validateResponse("GET", "/api/v1/stream", { status, headers, body: Buffer.from(body) });
});

test("[K4] tickets are issued for keys only, and do not open pages of events", async ({ keyed, wire }) => {
  expect(await post(keyed)).toMatchObject({
    status: 401,
    headers: { "www-authenticate": expect.any(String) },
  });
  expect(await post(keyed, { authorization: `Bearer ${await keyed.ticket("pro")}` })).toMatchObject({
    status: 401,
  });
  for (const path of ["/api/v1/events?ticket=x", "/api/v1/events?ticket=x&wait=1"]) {
    const { message, body } = await keyed.wire.ask(path);
    expect(message.statusCode).toBe(400);
    expect(JSON.parse(body)).toMatchObject({
      field: "ticket",
      detail: expect.stringContaining("Authorization"),
    });
  }
  const open = await wire.ask("/api/v1/tickets", {}, "POST");
  expect(open.message.statusCode).toBe(404);
  expect(open.body).toContain("connect without a ticket");
  const get = await keyed.wire.ask("/api/v1/tickets");
  expect([get.message.statusCode, get.message.headers.allow]).toEqual([405, "POST, OPTIONS"]);
});

test("[K6] a key has a limit of unused tickets, and other keys have their own", async ({ keyed }) => {
  for (let count = 0; count < TICKETS_OF_KEY; count++) await keyed.ticket("pro");
  expect(await post(keyed, keyed.bearer("pro"))).toMatchObject({
    status: 429,
    headers: { "retry-after": expect.any(String) },
    json: { bound: `${TICKETS_OF_KEY}`, type: "urn:flarewire:problem:rate-limited" },
  });
  expect(await post(keyed, keyed.bearer("free"))).toMatchObject({ status: 201 });
  keyed.clock.advance(TICKET_MS);
  expect(await post(keyed, keyed.bearer("pro"))).toMatchObject({ status: 201 });
});

test("[K5] a key in the URL is rejected and not repeated, and the message states where it belongs", async ({
  keyed,
  wire: open,
}) => {
  const key = keyed.secret("pro");
  for (const wire of [keyed.wire, open]) {
    for (const field of ["key", "api_key", "apikey", "access_token", "token", "after", "ticket"]) {
      for (const [path, headers, method] of [
        ["flares", {}, "GET"],
        ["snapshot", {}, "HEAD"],
        ["events", {}, "GET"],
        ["events", SSE, "GET"],
        ["stream", HANDSHAKE, "GET"],
        ["tickets", keyed.bearer("pro"), "POST"],
      ] as const) {
        const { message, body } = await wire.ask(`/api/v1/${path}?${field}=${key}`, headers, method);
        expect(message.statusCode, `${method} ${path}`).toBe(400);
        if (method === "HEAD") continue;
        const problem = JSON.parse(body);
        expect(problem).toMatchObject({ field, type: "urn:flarewire:problem:invalid-parameter" });
        expect(problem.detail).toContain("Authorization: Bearer KEY");
        expect(problem.detail).toContain("POST /api/v1/tickets");
        expect(body).not.toContain(key);
      }
    }
  }
});

test("[K5] a key within other text of the URL, in a path or in a wrong field is not repeated either", async ({
  keyed,
  wire: open,
}) => {
  const key = keyed.secret("pro");
  for (const wire of [keyed.wire, open]) {
    const amid = await wire.ask(`/api/v1/events?channels=status,${key}`);
    expect(JSON.parse(amid.body)).toMatchObject({ status: 400, field: "channels" });
    expect(amid.body).toContain("Revoke this key");
    const inPath = await wire.ask(`/api/v1/${key}/flares`);
    const inField = await wire.ask("/api/v1/stream", { ...HANDSHAKE, "sec-websocket-protocol": key });
    expect([inPath.message.statusCode, inField.message.statusCode]).toEqual([404, 400]);
    for (const { body } of [amid, inPath, inField]) expect(body).not.toContain(key);
  }
});

test("[K4] the tickets of a revoked key are invalid, even if another key has its id now", async ({
  keyed,
}) => {
  const ticket = await keyed.ticket("pro");
  keyed.write({ other: { id: keyed.id("pro") } });
  await keyed.pass(3);
  const { message } = await keyed.wire.ask(`/api/v1/stream?channels=status&ticket=${ticket}`, HANDSHAKE);
  expect(message.statusCode).toBe(401);
});
