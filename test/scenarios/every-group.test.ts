import { afterEach, describe, expect, test, vi } from "vitest";
import {
  type AnyFlare,
  CHAIN_GROUPS,
  EMPTY_SNAPSHOT,
  flaresKeyOf,
  GROUP_FACTS,
  GROUPS,
  type GroupName,
  isAdditional,
  type Snapshot,
  tokenOf,
} from "../../src/base/model/index.ts";
import { startedAlert } from "../../src/base/model/text/flare-alert.ts";
import {
  compileFilter,
  flareChannelsOf,
  flarePatternOf,
  matchChannels,
} from "../../src/base/protocol/index.ts";
import { readRoute, tokenHash } from "../../src/clients/dashboard/route.ts";
import { tokenQuery } from "../../src/clients/dashboard/state/alerts/alert-settings.ts";
import { DEFAULT_QUERY, filterOf, readQuery } from "../../src/clients/dashboard/state/flare-query.ts";
import { wantedFlares } from "../../src/clients/dashboard/state/select-flares.ts";
import { TrendEngine } from "../../src/engine/index.ts";
import { createRuleJudge } from "../../src/extensions/alerts/rules/rule-judge.ts";
import { NEW_RULE } from "../../src/extensions/alerts/rules/rule-state.ts";
import { TOOLS } from "../../src/extensions/mcp/tools.ts";
import { AGGREGATED } from "../../src/feeds/aggregator/gecko-terminal.ts";
import { quoteTokensOf } from "../../src/feeds/quote-tokens.ts";
import { nameAt } from "../../src/feeds/service/group-names.ts";
import { toEvents } from "../../src/gateway/source/index.ts";
import { profile, report, START, withClocks } from "../engine/trend-kit.ts";
import { ruleOf } from "../extensions/alerts/judged-flares.ts";
import { addressIn } from "../support/world/address-in.ts";
import { SAMPLE_EXCHANGE_FLARE, SAMPLE_EXPLANATION, SAMPLE_FLARE } from "../support/world/samples.ts";

/* What has a group has all of the table. REST, history, record and the pages of tokens and flares
   are in test/extensions/history/plan-secrecy.test.ts. */

/** Imported at run time, because the types of preact bring the browser's into all tests. */
const WATCHED = "../../src/clients/dashboard/state/visitor/watched.ts";
const { watchedGroups }: { watchedGroups(): ReadonlyMap<GroupName, readonly string[]> } = await import(
  WATCHED
);

const isChain = (group: GroupName) => GROUP_FACTS[group].kind === "chain";

/** A flare of the group, whose token has a name in the group's form. */
function flareIn(group: GroupName): AnyFlare {
  if (!isChain(group)) return SAMPLE_EXCHANGE_FLARE;
  const token = { ...SAMPLE_FLARE.token, address: addressIn(group, 7) };
  return { ...SAMPLE_FLARE, token, ...(group === "bsc" ? {} : { group }) } as AnyFlare;
}

/** The events with which the group's flare starts. */
function startsIn(group: GroupName) {
  const flare = flareIn(group);
  const pro = { ...EMPTY_SNAPSHOT[flaresKeyOf(group)], pro: [flare] };
  const explanations = { [flare.id]: SAMPLE_EXPLANATION };
  const after = { ...EMPTY_SNAPSHOT, [flaresKeyOf(group)]: pro, explanations } as Snapshot;
  return toEvents(EMPTY_SNAPSHOT, after, START);
}

afterEach(() => vi.unstubAllGlobals());

describe.each(GROUPS)("the group %s", (group) => {
  const flare = flareIn(group);
  const { address = flare.token.symbol } = flare.token;
  const token = GROUP_FACTS[group].names === "exact" ? address : tokenOf(flare);

  test("has channels for its flares, chart and leaderboard", () => {
    expect(matchChannels(flarePatternOf(group))).toEqual(flareChannelsOf(group));
    for (const channel of [...flareChannelsOf(group), `charts.${group}`, `leaderboards.${group}`])
      expect(matchChannels(channel)).toEqual([channel]);
    expect(matchChannels("*").includes(`charts.${group}`)).toBe(!isAdditional(group));
  });

  test("starts a flare on its channel, with the token's address as it is", () => {
    const starts = startsIn(group);
    expect(starts.map(({ name, channel }) => [name, channel])).toEqual([
      ["flare-started", flareChannelsOf(group)[1]],
    ]);
    expect(starts[0]?.data).toMatchObject({ flare: { token: flare.token } });
  });

  test("is in alerts, whose rules and links have the token's address as it is", () => {
    const channels = [flarePatternOf(group)];
    const address = flare.token.address;
    const filter = address === undefined ? { symbols: [flare.token.symbol] } : { tokens: [address] };
    const judge = createRuleJudge(ruleOf({ channels, filter }), NEW_RULE);
    const envelope = { type: "event", cursor: "test1-1", seq: 1, prev: 0, emitted_at: "", batch: 1 } as const;
    const taken = startsIn(group).flatMap((event) => judge.take({ ...envelope, ...event }));
    expect(taken.map(({ type }) => type)).toEqual(["flare-started"]);
    expect(compileFilter(filter)?.inForce).toMatchObject(isChain(group) ? { tokens: [token] } : {});
    const path = startedAlert(flare, SAMPLE_EXPLANATION).path;
    expect(readRoute(path)).toMatchObject({ page: "token", group, token });
  });

  test("is in every tool for agents that has a group", () => {
    const inputs = TOOLS.map(({ input }) => input).filter(({ shape }) => "group" in shape);
    expect(inputs.length).toBeGreaterThanOrEqual(4);
    for (const { shape } of inputs) expect(shape.group.safeParse(group).data).toBe(group);
  });

  test("is on the dashboard: its token's page, alerts, watch list and search", () => {
    expect(readRoute(tokenHash(group, token))).toMatchObject({ page: "token", group, token });
    const query = readQuery(tokenQuery(group, token));
    expect(query.group).toBe(group);
    expect(wantedFlares([flare], {}, query)).toEqual([flare]);
    if (isChain(group)) expect(filterOf(query).tokens).toEqual([token]);
    const search = token.slice(0, 6).toUpperCase();
    expect(wantedFlares([flare], {}, { ...DEFAULT_QUERY, group, search })).toEqual([flare]);
    const stored = group === "bsc" ? token : `${group}/${token}`;
    vi.stubGlobal("localStorage", {
      getItem: (key: string) => (key === "flarewire-watched" ? `["${stored}"]` : null),
    });
    expect([...watchedGroups()]).toEqual([[group, [token]]]);
  });
});

describe.each(CHAIN_GROUPS)("the chain %s", (group) => {
  test("has an explorer whose address ends with the token's", () => {
    const { sites = [] }: { readonly sites?: readonly (readonly [string, string])[] } = GROUP_FACTS[group];
    expect(sites.length).toBeGreaterThan(0);
    expect(sites[0]?.[1]).toMatch(/^https:\/\/[a-z.]+\/token\/$/);
  });

  test("has a list of pools, names at the services of facts, and tokens in which others are priced", () => {
    expect(AGGREGATED.map((network) => network.group)).toContain(group);
    expect(nameAt("dexscreener", group)).toEqual(expect.any(String));
    expect(quoteTokensOf(group)[0]).toMatchObject({ isWrappedCoin: true });
    for (const { address } of quoteTokensOf(group))
      expect(tokenOf({ token: { symbol: "", address } })).toBe(address);
  });

  test("flares when an aggregator reports a burst, with the token's address as it is, and refuses other names", () => {
    const gem = addressIn(group, 1);
    const others = Array.from({ length: 8 }, (_, n) => addressIn(group, 50 + n));
    const usual = report(START + 1, gem).counts;
    const burst = { buys: 60, sells: 8, buyers: 60, sellers: 8, usd: "6000" };
    const counts = { ...usual, m5: burst, h1: { ...usual.h1, buys: 84, buyers: 84, usd: "6480" } };
    const past = { m5: "1", m30: "1", h1: "1" };
    const engine = new TrendEngine({
      facts: { trades: false, liquidity: true, listings: true, profiles: true },
    });
    const events = [
      ...[gem, ...others].map((one) => ({ ...profile(START, one), group })),
      ...others.map((one) => report(START + 1, one, { group })),
      report(START + 1, "not an address", { group }),
      report(START + 2, gem, { group, counts, price: "1.2", past }),
    ];
    for (const event of withClocks(events, START + 30_000)) engine.accept(event);
    const { pro } = engine.snapshot()[flaresKeyOf(group)];
    expect(pro.map((one) => one.token.address)).toEqual([gem]);
    expect(engine.rejected.token).toBe(1);
  });
});
