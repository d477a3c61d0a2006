import { expect } from "vitest";
import { EVENTS_ROUTE } from "../../../../src/gateway/http/index.ts";
import { validateResponse } from "../../../support/expect/validate-response.ts";
import { EPOCH } from "../../hub/hub-fixture.ts";
import { type ConnectionHandle, test } from "./websocket-fixture.ts";

const PATH = EVENTS_ROUTE.path;

async function get(wire: ConnectionHandle, query: string, headers: Record<string, string> = {}) {
  const { message, body } = await wire.ask(`${PATH}?${query}`, headers);
  const { statusCode: status = 0, headers: fields } = message;
  const seen = { status, headers: fields, body: Buffer.from(body) };
  // biome-ignore lint/suspicious/noExplicitAny: bodies of pages and of problems.
  const json = validateResponse("GET", `${PATH}?${query}`, seen) as any;
  return { status, fields, json };
}

const iso = (ms: number) => new Date(ms).toISOString();

test("[P13] a page from a time has the events after it, and continues by its cursor", async ({ wire }) => {
  const startMs = wire.clock.now();
  for (let batch = 0; batch < 4; batch += 1) {
    await wire.publish("list", "flare");
    wire.clock.advance(60_000);
  }
  const page = await get(wire, `after=${iso(startMs + 60_000)}&limit=3`);
  expect(page.json).toMatchObject({ cursor: `${EPOCH}-7`, more: true });
  expect(page.json.events.map(({ seq }: { seq: number }) => seq)).toEqual([5, 6, 7]);
  const rest = await get(wire, `after=${page.json.cursor}`);
  expect(rest.json.events.map(({ seq }: { seq: number }) => seq)).toEqual([8]);
  expect((await get(wire, `after=${iso(wire.clock.now())}`)).json).toMatchObject({ events: [], more: false });
});

test("[P13] a time before the stored events gets 410 with the snapshot's link", async ({ wire }) => {
  await wire.publish("list");
  const { status, fields, json } = await get(wire, "after=2017-11-12T00:00Z");
  expect([status, json.lost]).toEqual([410, { reason: "expired", events: null }]);
  expect(fields.link).toMatch(/rel="current"/);
});

test("[P13] a time to come and a malformed one are refused, and so is a time for a stream", async ({
  wire,
}) => {
  const ahead = iso(wire.clock.now() + 1);
  expect((await get(wire, `after=${ahead}`)).json).toMatchObject({
    field: "after",
    bound: "a time that has passed",
  });
  for (const text of [
    "2026-02-30T00:00:00Z",
    "2026-01-01T00:00:00",
    "yesterday",
    "2026-01-01T00:00:00%2B01:00",
  ]) {
    const { status, json } = await get(wire, `after=${text}`);
    expect([status, json.field]).toEqual([400, "after"]);
  }
  const stream = await get(wire, "after=2017-11-12T00:00Z", { accept: "text/event-stream" });
  expect([stream.status, stream.json.field]).toEqual([400, "after"]);
});
