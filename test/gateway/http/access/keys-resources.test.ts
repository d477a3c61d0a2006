import { expect } from "vitest";
import type { Explanation, Snapshot } from "../../../../src/base/model/index.ts";
import type { Plan } from "../../../../src/base/protocol/index.ts";
import { ResourceBodies } from "../../../../src/gateway/http/rest/resource-bodies.ts";
import { ENDPOINTS } from "../../../support/expect/contracts.ts";
import { planByHeader } from "../../../support/servers/plan-by-header.ts";
import { SAMPLE_FLARE, SAMPLE_SNAPSHOT } from "../../../support/world/samples.ts";
import { HandHead, type Rest, test } from "../rest/rest-fixture.ts";

const idOf = (n: number) => `00000000-0000-5000-8000-00000000000${n}`;
const flare = (n: number) => ({ ...SAMPLE_FLARE, id: idOf(n) });
const why = (score: number): Explanation => ({
  at: "2017-11-12T08:21:00.000Z",
  text: "score reached",
  score,
  threshold: 2.8,
  finish_threshold: 1.1,
  terms: [],
  warnings: [],
  finish_cause: null,
});

/** Of the running flares 1 and 2, the second is in `pro` only; 3 is finished. */
const FLARES: Pick<Snapshot, "flares" | "explanations"> = {
  flares: { free: [flare(1)], pro: [flare(2), flare(1)], finished_trending: [flare(3)] },
  explanations: { [idOf(1)]: why(1), [idOf(2)]: why(2), [idOf(3)]: why(3) },
};

async function ask(rest: Rest, name: keyof typeof ENDPOINTS, plan: Plan, etag?: unknown) {
  const known = etag === undefined ? {} : { "if-none-match": String(etag) };
  return rest.ask("GET", ENDPOINTS[name].path, { authorization: plan, ...known });
}

test("[K2] the plan free gets an empty list pro, and no explanation of a flare that is only there", async ({
  makeRest,
}) => {
  const rest = await makeRest({ policy: planByHeader });
  rest.head.move(FLARES);
  const { flares, explanations } = FLARES;
  const { [idOf(2)]: _hidden, ...shown } = explanations;
  expect((await ask(rest, "flares", "pro")).json).toEqual(flares);
  expect((await ask(rest, "flares", "free")).json).toEqual({ ...flares, pro: [] });
  const snapshotBody = (await ask(rest, "snapshot", "free")).json;
  expect(snapshotBody).toMatchObject({ flares: { pro: [] } });
  expect(snapshotBody).toHaveProperty("explanations", shown);
  expect(JSON.stringify(snapshotBody)).not.toContain(idOf(2));
  expect((await ask(rest, "snapshot", "pro")).json).toMatchObject(FLARES);
  rest.head.move({ flares: { ...flares, free: [flare(2), flare(1)] } });
  expect((await ask(rest, "snapshot", "free")).json).toHaveProperty("explanations", explanations);
});

test("[K3] responses vary by Authorization, and a tag of one plan does not match another plan's different body", async ({
  makeRest,
}) => {
  const rest = await makeRest({ policy: planByHeader, settings: { corsOrigins: ["https://page.example"] } });
  rest.head.move({ ...FLARES, flares: { ...FLARES.flares, pro: [] } });
  for (const name of ["flares", "snapshot", "charts", "newest", "leaderboards"] as const) {
    const [free, pro] = [await ask(rest, name, "free"), await ask(rest, name, "pro")];
    expect(free.headers.vary).toBe("Accept-Encoding, Authorization, Origin");
    const differs = name === "flares" || name === "snapshot";
    expect(free.headers.etag === pro.headers.etag, name).toBe(!differs);
    expect((await ask(rest, name, "free", free.headers.etag)).status).toBe(304);
    expect((await ask(rest, name, "free", pro.headers.etag)).status).toBe(differs ? 200 : 304);
  }
});

test("[K3] a change of pro alone does not change the tag of the free plan's flares", async ({ makeRest }) => {
  const rest = await makeRest({ policy: planByHeader });
  rest.head.move(FLARES);
  const { etag: free } = (await ask(rest, "flares", "free")).headers;
  const { etag: pro } = (await ask(rest, "flares", "pro")).headers;
  rest.head.move({ flares: { ...FLARES.flares, pro: [flare(1)] } });
  expect((await ask(rest, "flares", "free", free)).status).toBe(304);
  expect((await ask(rest, "flares", "pro", pro)).status).toBe(200);
  rest.head.move({ flares: { ...FLARES.flares, free: [] } });
  expect((await ask(rest, "flares", "free", free)).status).toBe(200);
});

test("[L6] a body is created once per change and plan, and once for all plans if it is equal", () => {
  const head = new HandHead();
  head.move({ ...SAMPLE_SNAPSHOT, ...FLARES });
  const bodies = new ResourceBodies(head);
  const made = () =>
    (["free", "pro", undefined] as const).map((plan) => [
      bodies.resource("flares", plan),
      bodies.resource("charts", plan),
      bodies.snapshot(plan),
    ]);
  const first = made();
  const again = made();
  for (const [at, row] of first.entries())
    for (const [place, body] of row.entries()) expect(again[at]?.[place]).toBe(body);
  const [free, pro, open] = first;
  expect(pro).toEqual(open);
  expect(free?.[1]).toBe(pro?.[1]);
  expect([free?.[0] === pro?.[0], free?.[2] === pro?.[2]]).toEqual([false, false]);
  head.move({ newest: { bsc: [] } });
  expect(made()[0]?.[0]).toBe(free?.[0]);
});
