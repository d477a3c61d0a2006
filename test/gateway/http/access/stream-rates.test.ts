import { expect } from "vitest";
import { validateResponse } from "../../../support/expect/validate-response.ts";
import { HANDSHAKE, test } from "../stream/websocket-fixture.ts";

const SSE = { accept: "text/event-stream" };

test("[W33] one more stream of an address without a key gets 429 with Retry-After, on either transport", async ({
  makeWire,
}) => {
  const wire = await makeWire({ http: { anonymousStreams: 2, trustProxy: ["127.0.0.1"] } });
  const open = async (client: string, path: string, more: Record<string, string>) => {
    // An unknown channel ends the request at once, but it counts like an admitted stream.
    const { message, body } = await wire.ask(path, { ...more, "x-forwarded-for": client });
    const { statusCode: status = 0, headers } = message;
    const problem = validateResponse("GET", path, { status, headers, body: Buffer.from(body) });
    return { status, headers, problem };
  };
  const websocket = (client: string) => open(client, "/api/v1/stream?channels=nope", HANDSHAKE);
  const sse = (client: string) => open(client, "/api/v1/events?channels=nope", SSE);
  const poll = (client: string) => open(client, "/api/v1/events?channels=nope", {});
  expect([(await websocket("192.0.2.1")).status, (await sse("192.0.2.1")).status]).toEqual([400, 400]);
  for (const refused of [await websocket("192.0.2.1"), await sse("192.0.2.1")]) {
    expect(refused.status).toBe(429);
    expect(refused.headers).toMatchObject({
      "retry-after": expect.stringMatching(/^([12]?\d|30)$/),
      "ratelimit-policy": '"address-streams";q=2;w=60',
      ratelimit: expect.stringMatching(/^"address-streams";r=0;t=\d+$/),
    });
    expect(refused.problem).toMatchObject({
      type: "urn:flarewire:problem:rate-limited",
      bound: "2 new streams a minute",
    });
  }
  // Polls count as requests, and other addresses have their own limits.
  expect([(await poll("192.0.2.1")).status, (await sse("192.0.2.2")).status]).toEqual([400, 400]);
});

test("[W33] the addresses of one IPv6 network of 64 bits open streams as one client", async ({
  makeWire,
}) => {
  const wire = await makeWire({ http: { anonymousStreams: 1, trustProxy: ["127.0.0.1"] } });
  const open = async (client: string) => {
    const fields = { ...HANDSHAKE, "x-forwarded-for": client };
    return (await wire.ask("/api/v1/stream?channels=nope", fields)).message.statusCode;
  };
  expect([await open("2001:db8::1"), await open("2001:db8::2"), await open("2001:db8:0:1::1")]).toEqual([
    400, 429, 400,
  ]);
});
