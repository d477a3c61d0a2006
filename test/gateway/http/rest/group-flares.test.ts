import { expect } from "vitest";
import { GROUPS } from "../../../../src/base/model/index.ts";
import { defaultGroups } from "../../../support/expect/shown-lists.ts";
import { planByHeader } from "../../../support/servers/plan-by-header.ts";
import {
  SAMPLE_EXCHANGE_FLARE,
  SAMPLE_EXPLANATION,
  SAMPLE_SNAPSHOT,
} from "../../../support/world/samples.ts";
import { test } from "./rest-fixture.ts";

const EXCHANGE = SAMPLE_SNAPSHOT["flares.exchange"];

test("group selects the group whose flares are served, with their market; bsc is the default", async ({
  rest,
}) => {
  const flares = await rest.ask("GET", "/api/v1/flares?group=exchange");
  expect([flares.status, flares.json]).toEqual([200, EXCHANGE]);
  expect(EXCHANGE.pro[0]).toMatchObject({ group: "exchange", pair: "BTC/USDT", exchange: "binance" });
  const plain = await rest.ask("GET", "/api/v1/flares");
  const bsc = await rest.ask("GET", "/api/v1/flares?group=bsc");
  expect([bsc.json, bsc.headers.etag]).toEqual([plain.json, plain.headers.etag]);
  expect((await rest.ask("GET", "/api/v1/flares?group=avalanche")).json).toEqual({
    ...{ free: [], pro: [], finished_trending: [] },
  });
  const wrong = await rest.ask("GET", "/api/v1/flares?group=sui");
  expect(wrong.status).toBe(400);
  expect(wrong.json).toMatchObject({ field: "group", bound: `one of ${GROUPS.join(", ")}` });
  const { json } = await rest.ask("GET", "/api/v1/flares?group=polygon");
  const detail = expect.stringContaining('"polygon" (did you mean matic?); it must be one of');
  expect(json).toMatchObject({ detail });
});

test("the entity tag of a group's flares changes only with them", async ({ rest }) => {
  const tagOf = async (group: string) =>
    (await rest.ask("GET", `/api/v1/flares?group=${group}`)).headers.etag;
  const before = [await tagOf("bsc"), await tagOf("exchange"), await tagOf("matic")];
  rest.head.move({ "flares.exchange": { ...EXCHANGE, free: [] } });
  const after = [await tagOf("bsc"), await tagOf("exchange"), await tagOf("matic")];
  expect([after[0], after[2]]).toEqual([before[0], before[2]]);
  expect(after[1]).not.toBe(before[1]);
  const url = "/api/v1/flares?group=exchange";
  expect((await rest.ask("GET", url, { "if-none-match": String(after[1]) })).status).toBe(304);
});

test("[L2] the snapshot of a group has its flares with their explanations and outcomes", async ({ rest }) => {
  const { id } = SAMPLE_EXCHANGE_FLARE;
  const explanations = { ...SAMPLE_SNAPSHOT.explanations, [id]: SAMPLE_EXPLANATION };
  rest.head.move({ explanations });
  const { json } = await rest.ask("GET", "/api/v1/snapshot?group=exchange");
  expect(json).toMatchObject({ flares: EXCHANGE, charts: defaultGroups(SAMPLE_SNAPSHOT.charts) });
  expect(json).toMatchObject({ cursor: "test1-8", explanations: { [id]: SAMPLE_EXPLANATION } });
  expect(Object.keys((json as { explanations: object }).explanations)).toEqual([id]);
  expect((json as { outcomes: object }).outcomes).toEqual({});
  const plain = await rest.ask("GET", "/api/v1/snapshot");
  expect((plain.json as { explanations: object }).explanations).toEqual(SAMPLE_SNAPSHOT.explanations);
});

test("[K2] the plan free sees no running flare of a group before it is in free", async ({ makeRest }) => {
  const rest = await makeRest({ policy: planByHeader });
  const { json } = await rest.ask("GET", "/api/v1/flares?group=matic", { authorization: "free" });
  expect(json).toEqual({ ...SAMPLE_SNAPSHOT["flares.matic"], pro: [] });
  const pro = await rest.ask("GET", "/api/v1/flares?group=matic", { authorization: "pro" });
  expect(pro.json).toEqual(SAMPLE_SNAPSHOT["flares.matic"]);
});
