import { fastify } from "fastify";
import { expect, test } from "vitest";
import { flaresKeyOf, GROUPS, type Snapshot } from "../../../../src/base/model/index.ts";
import type { AccessPolicy } from "../../../../src/gateway/http/index.ts";
import { createPreparedRoutes } from "../../../../src/gateway/http/rest/prepared-routes.ts";
import { Representation } from "../../../../src/gateway/http/rest/representation.ts";
import { ResourceBodies } from "../../../../src/gateway/http/rest/resource-bodies.ts";
import { planByHeader } from "../../../support/servers/plan-by-header.ts";
import { SAMPLE_EXPLANATION } from "../../../support/world/samples.ts";
import { flare } from "../../source/sample-snapshots.ts";
import { FRESH, HandHead, INFO } from "./rest-fixture.ts";

const contract = {
  name: "one",
  path: "/one",
  method: "GET",
  tag: "resources",
  summary: "",
  query: {},
  responses: {},
  problems: [],
} as const;

/** A route whose body names the rights for which it was made, and how often one was made. */
async function serve(policy: AccessPolicy) {
  const head = new HandHead();
  const app = fastify();
  let made = 0;
  let stamp = "a";
  const settings = { basePath: "", corsOrigins: "*" } as never;
  const add = createPreparedRoutes(app, { head, freshness: () => FRESH, info: () => INFO, policy, settings });
  add({
    contract: contract as never,
    now: () => stamp,
    read: async (_request, { plan, channels }) => {
      made += 1;
      const text = `${plan} ${channels ?? "all"} ${made}`;
      return () => new Representation(Buffer.from(text), text);
    },
  });
  const ask = async (url: string, authorization: string) =>
    (await app.inject({ url, headers: { authorization } })).body;
  return {
    ask,
    change: () => {
      stamp += "a";
    },
    [Symbol.asyncDispose]: () => app.close(),
  };
}

test("[K2] a cached page is served again only for the same plan, channels and address, and while its data is the same", async () => {
  const policy: AccessPolicy = {
    ...planByHeader,
    admit: ({ headers }) => {
      const [plan, channels] = (headers.authorization ?? "").split(" ");
      return { plan: plan === "pro" ? "pro" : "free", channels: channels?.split(",") };
    },
  };
  await using served = await serve(policy);
  const { ask } = served;
  const rights = ["pro", "free", "pro flares.*", "pro status", "free status"];
  const bodies = async (url: string) => {
    const all: string[] = [];
    for (const one of rights) all.push(await ask(url, one));
    return all;
  };
  const first = await bodies("/one?a=1");
  expect(first).toEqual(["pro all 1", "free all 2", "pro flares.* 3", "pro status 4", "free status 5"]);
  expect(await bodies("/one?a=1")).toEqual(first);
  expect((await bodies("/one?a=2"))[0]).toBe("pro all 6");
  served.change();
  expect((await bodies("/one?a=1"))[0]).toBe("pro all 11");
});

test("[K2] the free plan's flares of every group follow the head, also while only one list of that group changes", () => {
  for (const group of GROUPS)
    for (const list of ["free", "finished_trending"] as const) {
      const head = new HandHead();
      const bodies = new ResourceBodies(head);
      const jsonOf = () => JSON.parse(bodies.resource("flares", "free", group).bytes.toString());
      expect(jsonOf()).toEqual({ free: [], pro: [], finished_trending: [] });
      const key = flaresKeyOf(group);
      const next = { ...head.snapshot[key], pro: [flare("HID")], [list]: [flare("NEW")] };
      head.move({ [key]: next } as Partial<Snapshot>);
      expect(jsonOf(), `${group} ${list}`).toEqual({ ...next, pro: [] });
      expect(JSON.parse(bodies.snapshot("free", group).bytes.toString()).flares).toEqual({
        ...next,
        pro: [],
      });
      const others = GROUPS.filter((one) => one !== group).map((one) =>
        bodies.resource("flares", "free", one),
      );
      for (const other of others) expect(other.bytes.toString()).not.toContain("NEW");
    }
});

test("[K2] the free plan's explanations follow the head, also while only an explanation changes", () => {
  const head = new HandHead();
  const bodies = new ResourceBodies(head);
  const running = flare("RUN");
  const explain = (text: string) => ({ explanations: { [running.id]: { ...SAMPLE_EXPLANATION, text } } });
  const free = { free: [running], pro: [running], finished_trending: [] };
  head.move({ [flaresKeyOf("bsc")]: free, ...explain("first") } as Partial<Snapshot>);
  for (const text of ["first", "second", "third"]) {
    head.move(explain(text));
    for (const plan of ["free", "pro"] as const) {
      const own = JSON.parse(bodies.resource("explanations", plan).bytes.toString());
      const whole = JSON.parse(bodies.snapshot(plan).bytes.toString()).explanations;
      expect([own[running.id].text, whole[running.id].text], plan).toEqual([text, text]);
    }
  }
});
