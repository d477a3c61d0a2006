import { once } from "node:events";
import { expect } from "vitest";
import { EVENTS_ROUTE } from "../../../../src/gateway/http/index.ts";
import { EPOCH } from "../../hub/hub-fixture.ts";
import { test as keyedTest } from "../access/keyed-fixture.ts";
import { type ConnectionHandle, test } from "./websocket-fixture.ts";

const PATH = EVENTS_ROUTE.path;
const OPEN = "public, max-age=0, s-maxage=1";
const CLOSED = "public, max-age=86400, immutable";

async function get(wire: ConnectionHandle, query: string, headers: Record<string, string> = {}) {
  const { message, body } = await wire.ask(`${PATH}?${query}`, headers);
  const { date: _date, ...fields } = message.headers;
  return { status: message.statusCode, fields, body };
}

test("[P14] a page before the head is immutable: everyone gets the same bytes and fields, at any time", async ({
  wire,
}) => {
  for (let batch = 0; batch < 5; batch += 1) await wire.publish("list", "flare");
  const query = `after=${EPOCH}-0&limit=4`;
  const first = await get(wire, query);
  expect(first.fields).toMatchObject({
    "cache-control": CLOSED,
    vary: "Accept",
    "flarewire-cursor": `${EPOCH}-4`,
  });
  expect(first.fields).not.toHaveProperty("flarewire-data-age");
  await wire.publish("refresh", "status");
  wire.clock.advance(3_600_000);
  expect(await get(wire, query, { "user-agent": "another" })).toEqual(first);
});

test("[P14] a page before the head that does not start at a cursor is shared for a second, because the log may drop its start", async ({
  wire,
}) => {
  await wire.publish("list");
  const atMs = wire.clock.now();
  wire.clock.advance(1_000);
  for (let batch = 0; batch < 3; batch += 1) await wire.publish("list");
  for (const after of ["oldest", new Date(atMs).toISOString()]) {
    const { fields, body } = await get(wire, `after=${after}&limit=1`);
    expect([JSON.parse(body).more, fields["cache-control"]], after).toEqual([true, OPEN]);
    expect(fields).toHaveProperty("flarewire-data-age");
  }
});

test("[P14] responses at the head are shared for a second: the start, the newest page and the end of a wait", async ({
  wire,
}) => {
  await wire.publish("list", "flare");
  for (const query of ["", `after=${EPOCH}-0`, `after=${EPOCH}-2`]) {
    const { status, fields } = await get(wire, query);
    expect([status, fields["cache-control"]]).toEqual([200, OPEN]);
    expect(fields).toHaveProperty("flarewire-data-age");
  }
  const awaited = await get(wire, `after=${EPOCH}-0&wait=55`);
  expect(awaited.fields["cache-control"]).toBe("public, max-age=0, s-maxage=10");
  const arrived = once(wire.app.server, "request");
  const waiting = get(wire, `after=${EPOCH}-2&wait=60`);
  await arrived;
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  await wire.hub.drain(0);
  const { status, fields } = await waiting;
  expect([status, fields["cache-control"]]).toEqual([204, OPEN]);
});

test("[P14] a response is not shared if a page's origin decides, or if it is an error", async ({
  makeWire,
}) => {
  const wire = await makeWire({ stream: { allowedOrigins: ["https://app.example.org"] } });
  for (let batch = 0; batch < 3; batch += 1) await wire.publish("list");
  for (const query of [`after=${EPOCH}-0&limit=1`, `after=${EPOCH}-3`, "after=gone1-1"])
    expect((await get(wire, query)).fields["cache-control"]).toBe("no-store");
});

keyedTest("[P14] [K3] a request with a key is never shared, and others vary by it", async ({ keyed }) => {
  const { wire, bearer } = keyed;
  for (let batch = 0; batch < 3; batch += 1) await wire.publish("list", "flare");
  for (const query of [`after=${EPOCH}-0&limit=1`, `after=${EPOCH}-6`]) {
    expect((await get(wire, query, bearer("pro"))).fields["cache-control"]).toBe("no-store");
    const { fields } = await get(wire, query);
    expect(fields["cache-control"]).toMatch(/^public, /);
    expect(fields.vary).toBe("Accept, Authorization");
    expect((await get(wire, query, { authorization: "Bearer wrong" })).fields["cache-control"]).toBe(
      "no-store",
    );
  }
});
