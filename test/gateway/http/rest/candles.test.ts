import { expect } from "vitest";
import { SAMPLE_CANDLES, SAMPLE_FLARE, SAMPLE_SNAPSHOT } from "../../../support/world/samples.ts";
import { test } from "./rest-fixture.ts";

const { closed_at } = SAMPLE_CANDLES;
const { address } = SAMPLE_FLARE.token;

test("serves the candles of a token until its flare ends", async ({ rest }) => {
  const { status, json, headers } = await rest.ask("GET", "/api/v1/candles");
  expect([status, json]).toEqual([200, { closed_at, bsc: { [address]: SAMPLE_CANDLES.bsc[address] } }]);
  const again = await rest.ask("GET", "/api/v1/candles", { "if-none-match": String(headers.etag) });
  expect(again.status).toBe(304);
  rest.head.move({ flares: { ...SAMPLE_SNAPSHOT.flares, pro: [], free: [] } });
  const ended = await rest.ask("GET", "/api/v1/candles");
  expect(ended.json).toEqual({ closed_at: null, bsc: {} });
});

test("the entity tag stays the same while only the flares' numbers change", async ({ rest }) => {
  const { headers } = await rest.ask("GET", "/api/v1/candles");
  const changed = { ...SAMPLE_FLARE, latest_buy_count: 4711 };
  rest.head.move({ flares: { ...SAMPLE_SNAPSHOT.flares, pro: [changed], free: [changed] } });
  expect((await rest.ask("GET", "/api/v1/candles")).headers.etag).toBe(headers.etag);
});
