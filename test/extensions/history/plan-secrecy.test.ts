import { expect } from "vitest";
import {
  type AnyFlare,
  byGroup,
  EMPTY_SNAPSHOT,
  flaresKeyOf,
  GROUP_FACTS,
  GROUPS,
  type Group,
  type Snapshot,
} from "../../../src/base/model/index.ts";
import { CONTRACTS } from "../../support/expect/contracts.ts";
import { planByHeader } from "../../support/servers/plan-by-header.ts";
import { addressIn } from "../../support/world/address-in.ts";
import {
  SAMPLE_CANDLES,
  SAMPLE_EXCHANGE_FLARE,
  SAMPLE_EXPLANATION,
  SAMPLE_FLARE,
  SAMPLE_OUTCOME,
} from "../../support/world/samples.ts";
import { START_MS } from "./flare-records.ts";
import { iso, test } from "./past-world.ts";

const [SAMPLE_MINUTES = []] = Object.values(SAMPLE_CANDLES.bsc);
const KINDS = ["young", "aged", "ended"] as const;
type Kind = (typeof KINDS)[number];

/** What identifies a flare of this kind and group wherever it is served. */
function marksOf(kind: Kind, group: Group) {
  const digit = (KINDS.indexOf(kind) + 1) * 16 + GROUPS.indexOf(group);
  return {
    id: `00000000-0000-5000-8000-0000000000${digit}`,
    name: `Name of ${kind} ${group}`,
    symbol: `${kind}${group}`.toUpperCase(),
    address: addressIn(group, digit),
    reason: `reason of ${kind} ${group}`,
  };
}

function flareOf(kind: Kind, group: Group): AnyFlare {
  const { id, name, symbol, address } = marksOf(kind, group);
  const finished_trending_at = kind === "ended" ? "2017-11-12T08:35:00.000Z" : null;
  const isExchange = group === "exchange";
  const sample = isExchange ? SAMPLE_EXCHANGE_FLARE : SAMPLE_FLARE;
  return {
    ...sample,
    ...{ id, finished_trending_at },
    token: { ...sample.token, name, symbol, ...(isExchange ? {} : { address }) },
    ...(isExchange ? { pair: `${symbol}/USDT` } : group === "bsc" ? {} : { group }),
  } as AnyFlare;
}

/** Each group has a flare that is only in pro, one in both lists, and a finished one. */
const MARKET = {
  ...EMPTY_SNAPSHOT,
  ...Object.fromEntries(
    GROUPS.map((group) => {
      const [young, aged, ended] = KINDS.map((kind) => flareOf(kind, group));
      return [flaresKeyOf(group), { free: [aged], pro: [young, aged], finished_trending: [ended] }];
    }),
  ),
  explanations: notes((kind, group) => ({ ...SAMPLE_EXPLANATION, text: marksOf(kind, group).reason })),
  outcomes: Object.fromEntries(GROUPS.map((group) => [marksOf("ended", group).id, SAMPLE_OUTCOME])),
  candles: {
    closed_at: SAMPLE_CANDLES.closed_at,
    bsc: Object.fromEntries(KINDS.map((kind) => [marksOf(kind, "bsc").address, SAMPLE_MINUTES])),
  },
} as Snapshot;

function notes<T>(of: (kind: Kind, group: Group) => T): Record<string, T> {
  return Object.fromEntries(
    GROUPS.flatMap((group) => KINDS.map((kind) => [marksOf(kind, group).id, of(kind, group)])),
  );
}

/** All requests that name the group, with values for their parameters, and their names. */
function requestsFor(group: Group): readonly (readonly [name: string, url: string])[] {
  const { id, address, symbol } = marksOf("young", group);
  const token = GROUP_FACTS[group].kind === "exchange" ? symbol : address;
  const routes = CONTRACTS.filter(
    ({ method, path }) => method === "GET" && !/stream|message|events/.test(path),
  );
  const requests = routes.flatMap(({ path, query = {} }) => {
    const filled = path.replace("{id}", id).replace("{group}", group).replace("{token}", token);
    const lists = "list" in query ? ["&list=free", "&list=chart", "&list=pro"] : [""];
    const times = "at" in query ? ["", `&at=${iso(60)}`] : [""];
    const own = "group" in query ? `group=${group}` : "";
    if (own === "" && group !== "bsc" && !/\{/.test(path) && !("list" in query)) return [];
    return lists.flatMap((list) =>
      times.map((at) => {
        const name = `${path}${at === "" ? "" : " then"}`;
        return [name, `${filled}?${own}${list}${at}`.replace("?&", "?")] as const;
      }),
    );
  });
  return [...requests, ["/flare", `/flare/${id}`], ["/token", `/token/${group}/${token}`]];
}

/** The requests whose answers have a flare of pro: what is absent elsewhere would prove nothing. */
const served = (group: Group) => [
  ...(group === "bsc" ? ["/api/v1/candles"] : []),
  ...["/api/v1/flares", "/api/v1/flares then", "/api/v1/flares/{id}", "/api/v1/flares/{id} then"],
  ...["/api/v1/snapshot", "/api/v1/snapshot then"],
  ...["/api/v1/tokens/{group}/{token}", "/api/v1/tokens/{group}/{token} then", "/flare", "/token"],
];

test("[K2] whatever the group, path and time, the plan free gets nothing of a flare that is only in pro, and all of one that is also in free", async ({
  makeWorld,
}) => {
  const world = await makeWorld({}, {}, { policy: planByHeader });
  const nothing = { starts: [], finishes: [], outcomes: [] };
  world.flares.commit({ cursor: "test1-0", nowMs: START_MS, ...nothing });
  world.market.observe(1, MARKET);
  world.market.observe(70, MARKET);
  await world.settled();
  const ask = async (url: string, authorization: string) => {
    const accept = url.startsWith("/api") ? "*/*" : "text/html";
    const { statusCode, body } = await world.rest.app.inject({ url, headers: { authorization, accept } });
    return { text: body.replaceAll("\u00a0", " "), isForbidden: statusCode === 403 };
  };
  const seen = byGroup((): string[] => []);
  for (const group of GROUPS)
    for (const [name, url] of requestsFor(group)) {
      const [free, pro] = [await ask(url, "free"), await ask(url, "pro")];
      // A problem may repeat its path.
      const marksIn = ({ text }: { readonly text: string }, kind: Kind) =>
        Object.entries(marksOf(kind, group)).flatMap(([field, mark]) =>
          !url.includes(mark) && text.includes(mark) ? [field] : [],
        );
      expect(marksIn(free, "young"), url).toEqual([]);
      expect(free.isForbidden, url).toBe(url.includes("list=pro"));
      if (free.isForbidden) continue;
      for (const kind of ["aged", "ended"] as const)
        expect(marksIn(free, kind), url).toEqual(marksIn(pro, kind));
      if (marksIn(pro, "young").length > 0) seen[group].push(name);
      const isWhole = name.startsWith("/api/v1/snapshot");
      const fields = Object.keys(marksOf("ended", group)).filter(
        (one) => one !== "address" || group !== "exchange",
      );
      if (isWhole) for (const kind of KINDS) expect(marksIn(pro, kind), `${kind} ${url}`).toEqual(fields);
    }
  for (const group of GROUPS) expect(seen[group].toSorted(), group).toEqual(served(group));
});

test("[K2] the lists of the plan free follow each group's changes", async ({ makeWorld }) => {
  const { market, rest } = await makeWorld({}, {}, { policy: planByHeader });
  market.observe(1, MARKET);
  for (const group of GROUPS) {
    const key = flaresKeyOf(group);
    const [flares, snapshot] = [`/api/v1/flares?group=${group}`, `/api/v1/snapshot?group=${group}`];
    const ask = async (url: string) => (await rest.ask("GET", url, { authorization: "free" })).json;
    await ask(flares);
    const [young, aged] = [flareOf("young", group), flareOf("aged", group)];
    market.move({ [key]: { ...MARKET[key], free: [young, aged] } });
    expect(await ask(flares)).toEqual({ ...MARKET[key], pro: [], free: [young, aged] });
    const { id, reason } = marksOf("young", group);
    expect(await ask(snapshot)).toHaveProperty(["explanations", id, "text"], reason);
    const explanations = { ...MARKET.explanations, [id]: { ...SAMPLE_EXPLANATION, text: "another reason" } };
    market.move({ explanations });
    expect(await ask(snapshot)).toHaveProperty(["explanations", id, "text"], "another reason");
    market.move({ [key]: MARKET[key], explanations: MARKET.explanations });
  }
});

test("[K2] a symbol that one token of free and one of pro alone have belongs to one token for the plan free", async ({
  makeWorld,
}) => {
  const { market, rest } = await makeWorld({}, {}, { policy: planByHeader });
  for (const group of GROUPS.filter((one) => GROUP_FACTS[one].kind === "chain")) {
    const [young, aged] = [flareOf("young", group), flareOf("aged", group)];
    const { symbol, address } = marksOf("aged", group);
    const twin = { ...young, token: { ...young.token, symbol } };
    market.observe(1, {
      ...MARKET,
      [flaresKeyOf(group)]: { free: [aged], pro: [twin, aged], finished_trending: [] },
    });
    const url = `/api/v1/tokens/${group}/${symbol}`;
    const ask = async (authorization: string) => (await rest.ask("GET", url, { authorization })).json;
    expect(await ask("free")).toMatchObject({ address });
    expect(await ask("pro")).toMatchObject({ status: 404, bound: expect.stringContaining(address) });
  }
});
