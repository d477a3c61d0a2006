import { expect } from "vitest";
import { LINES_PER_MINUTE } from "../../../../src/gateway/http/connections/audit.ts";
import { SseClient } from "../../../support/clients/sse-client.ts";
import { type Keyed, test } from "../access/keyed-fixture.ts";
import { HANDSHAKE } from "../stream/websocket-fixture.ts";

/** Returns the audit lines so far, without their time and process. */
function audit({ lines }: Keyed): readonly Record<string, unknown>[] {
  return lines
    .map((line) => JSON.parse(line))
    .filter((line) => line.audit !== undefined)
    .map(({ level: _level, time: _time, pid: _pid, hostname: _hostname, msg: _msg, ...rest }) => rest);
}

const address = "127.0.0.1";

test("a server with keys logs each admitted stream once, with its key, transport and plan", async ({
  makeKeyed,
}) => {
  const keyed = await makeKeyed({ keys: { desk: { name: "trading desk" } } });
  const who = { keyId: keyed.id("desk"), name: "trading desk", plan: "pro", address };
  const headers = keyed.bearer("desk");
  const client = keyed.wire.client("?channels=status", [], { headers });
  await client.answer("subscribed");
  const url = `http://127.0.0.1:${keyed.wire.port}/api/v1/events?channels=status`;
  const stream = await SseClient.open(url, headers);
  const anonymous = keyed.wire.client("?channels=status");
  await anonymous.answer("subscribed");
  const byTicket = keyed.wire.client(`?channels=status&ticket=${await keyed.ticket("desk")}`);
  await byTicket.answer("subscribed");
  expect(audit(keyed)).toEqual([
    { audit: "admitted", transport: "websocket", ...who },
    { audit: "admitted", transport: "sse", ...who },
    { audit: "admitted", transport: "websocket", plan: "free", address },
    { audit: "admitted", transport: "rest", ...who },
    { audit: "admitted", transport: "websocket", ...who },
  ]);
  stream.cut();
});

test("a key that reads REST is logged once a minute for each address", async ({ keyed }) => {
  const read = () => keyed.wire.ask("/api/v1/flares", keyed.bearer("pro"));
  const seen = async () => {
    await read();
    await read();
    return audit(keyed).length;
  };
  expect(await seen()).toBe(1);
  keyed.clock.advance(59_999);
  expect(await seen()).toBe(1);
  keyed.clock.advance(1);
  expect(await seen()).toBe(2);
  // Requests without a key are not logged.
  await keyed.wire.ask("/api/v1/flares");
  expect(audit(keyed)).toHaveLength(2);
});

test("each refusal is logged with its reason, and with the key if it is known", async ({ makeKeyed }) => {
  const keyed = await makeKeyed({
    keys: { slow: { requests_per_minute: 1 }, charts: { channels: ["charts.*"] } },
  });
  const wrong = { authorization: `Bearer ${keyed.secret("nobody")}` };
  await keyed.wire.ask("/api/v1/stream", { ...wrong, ...HANDSHAKE });
  await keyed.wire.ask("/api/v1/events", { ...wrong, accept: "text/event-stream" });
  await keyed.wire.ask("/api/v1/flares", keyed.bearer("charts"));
  await keyed.wire.ask("/api/v1/events?limit=1", keyed.bearer("slow"));
  await keyed.wire.ask("/api/v1/flares", keyed.bearer("slow"));
  // An invalid request is not a refusal.
  await keyed.wire.ask("/api/v1/flares?colour=red", keyed.bearer("charts"));
  const unauthorized = { audit: "refused", reason: "unauthorized", address };
  const detail = "invalid API key: unknown or revoked";
  const [charts, slow] = [keyed.id("charts"), keyed.id("slow")];
  expect(audit(keyed)).toEqual([
    { ...unauthorized, transport: "websocket", detail },
    { ...unauthorized, transport: "sse", detail },
    {
      ...{ audit: "refused", transport: "rest", address, keyId: charts, plan: "pro", reason: "forbidden" },
      detail: expect.stringContaining("limited to charts.bsc"),
    },
    { audit: "admitted", transport: "poll", address, keyId: slow, plan: "pro" },
    {
      ...{
        audit: "refused",
        transport: "rest",
        address,
        keyId: slow,
        plan: "pro",
        reason: "requests-of-key",
      },
      detail: expect.stringContaining("1 requests a minute"),
    },
  ]);
  expect(keyed.lines.join()).not.toContain(keyed.secret("nobody"));
});

test("a flood of refusals from one address writes a limited number of lines, and the next line has the number of omitted ones", async ({
  keyed,
}) => {
  const wrong = { authorization: "Bearer nonsense" };
  const excess = 20;
  for (let count = 0; count < LINES_PER_MINUTE + excess; count += 1)
    await keyed.wire.ask("/api/v1/flares", wrong);
  expect(audit(keyed)).toHaveLength(LINES_PER_MINUTE);
  keyed.clock.advance(60_000 / LINES_PER_MINUTE);
  await keyed.wire.ask("/api/v1/flares", wrong);
  expect(audit(keyed)).toHaveLength(LINES_PER_MINUTE + 1);
  expect(audit(keyed).at(-1)).toMatchObject({ audit: "refused", suppressed: excess });
});
