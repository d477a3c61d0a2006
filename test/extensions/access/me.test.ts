import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, vi } from "vitest";
import { systemClock } from "../../../src/base/lib/time/clock.ts";
import { CHANNELS, channelsOfPlan } from "../../../src/base/protocol/index.ts";
import { test } from "../../gateway/http/access/keyed-fixture.ts";
import type { ConnectionHandle } from "../../gateway/http/stream/websocket-fixture.ts";
import { SseClient } from "../../support/clients/sse-client.ts";
import { validateResponse } from "../../support/expect/validate-response.ts";
import { lawRuns } from "../../support/law-runs.ts";
import { newDirectory } from "../../support/servers/edges.ts";
import { AUDIENCE, createIssuer, ISSUER } from "../../support/servers/token-issuer.ts";

const PATH = "/api/v1/me";

/** Asks for the visitor's access, and checks the response against its contract. */
async function me(wire: ConnectionHandle, headers: Record<string, string> = {}) {
  const { message, body } = await wire.ask(PATH, headers);
  const { statusCode: status = 0, headers: fields } = message;
  validateResponse("GET", PATH, { status, headers: fields, body: Buffer.from(body) });
  expect(fields["cache-control"]).toBe("no-store");
  return { status, headers: fields, json: JSON.parse(body) };
}

test("[K11] without keys, a visitor may do everything within the limits of its address", async ({
  makeWire,
  onTestFinished,
}) => {
  // A used request would be returned within a second.
  const time = vi.spyOn(systemClock, "monotonic").mockReturnValue(systemClock.monotonic());
  onTestFinished(() => time.mockRestore());
  const wire = await makeWire({
    http: { anonymousRequests: 60, anonymousStreams: 10 },
    stream: { limits: { maxSocketsPerIp: 7 } },
  });
  const stream = await SseClient.open(`http://127.0.0.1:${wire.port}/api/v1/events`);
  const { json, headers } = await me(wire);
  expect(json).toMatchObject({
    plan: null,
    key: null,
    channels: CHANNELS,
    requests_per_minute: { limit: 60, used: 2 },
    bytes_per_request: 65_536,
    new_streams_per_minute: { limit: 10, used: 1 },
    connections: { limit: 7, used: 1 },
    subscriptions: 64,
  });
  expect(headers["flarewire-origin"]).toBeDefined();
  stream.cut();
});

test("[K11] [K2] with keys, a visitor without one has the plan free", async ({ keyed: { wire } }) => {
  const { json, headers } = await me(wire);
  expect(headers["flarewire-plan"]).toBe("free");
  expect(json).toMatchObject({ plan: "free", key: null, channels: channelsOfPlan("free") });
});

test("[K11] [K6] a key has its own limits, and its use ends with the minute", async ({ makeKeyed }) => {
  const keys = { desk: { name: "desk", requests_per_minute: 6, connections: 2, channels: ["flares.*"] } };
  const { wire, bearer, id, pass } = await makeKeyed({ keys });
  const stream = await SseClient.open(`http://127.0.0.1:${wire.port}/api/v1/events`, bearer("desk"));
  const { json } = await me(wire, bearer("desk"));
  expect(json).toMatchObject({
    plan: "pro",
    key: { id: id("desk"), name: "desk" },
    channels: ["flares.free", "flares.pro", "flares.finished"],
    requests_per_minute: { limit: 6, used: 2, reset_s: 20 },
    bytes_per_request: null,
    new_streams_per_minute: null,
    connections: { limit: 2, used: 1 },
  });
  stream.cut();
  await pass(60);
  expect((await me(wire, bearer("desk"))).json).toMatchObject({ requests_per_minute: { used: 1 } });
});

test("[K11] [K6] after any requests and pauses, the use shown is what the next refusal counts", async ({
  makeKeyed,
}) => {
  const keyed = await makeKeyed({ keys: { desk: { requests_per_minute: 4 } } });
  const { wire, bearer, pass } = keyed;
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(20), { minLength: 1, maxLength: 4 }), async (pauses) => {
      for (const seconds of pauses) {
        await pass(seconds);
        const { message, body } = await wire.ask(PATH, bearer("desk"));
        const left = /r=(\d+)/.exec(String(message.headers.ratelimit))?.[1];
        if (message.statusCode === 429) expect(left).toBe("0");
        else expect(4 - JSON.parse(body).requests_per_minute.used).toBe(Number(left));
      }
    }),
    lawRuns(5, 100),
  );
});

test("[K11] [K8] a token's plan, name and end are shown", async ({ makeKeyed, onTestFinished }) => {
  const issuer = createIssuer("HS256");
  const jwtKey = join(newDirectory(onTestFinished), "issuer");
  writeFileSync(jwtKey, issuer.file, { mode: 0o600 });
  const { wire } = await makeKeyed({ tokens: { jwtKey, jwtIssuer: ISSUER, jwtAudience: AUDIENCE } });
  const { json } = await me(wire, { authorization: `Bearer ${await issuer.sign()}` });
  expect(json).toMatchObject({ plan: "pro", key: { expires_at: expect.any(String) } });
});

test("[K11] [K1] a wrong key gets 401, and so does none where one is required", async ({ makeKeyed }) => {
  const { wire } = await makeKeyed({ anonymous: "off" });
  for (const headers of [{}, { authorization: "Bearer fw_wrong" }]) {
    const answer = await me(wire, headers);
    expect([answer.status, answer.headers["www-authenticate"]]).toEqual([401, 'Bearer realm="flarewire"']);
    expect(answer.json.type).toMatch(/unauthorized$/);
  }
});
