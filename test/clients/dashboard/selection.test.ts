import { expect, test } from "vitest";
import { formatCount, formatPrice, formatUsd } from "../../../src/base/lib/text/figures.ts";
import { formatPct } from "../../../src/base/lib/text/percent.ts";
import type { Flare, FlareRecord } from "../../../src/base/model/index.ts";
import {
  canonicalOf,
  flarePageHref,
  flaresHash,
  marketsHash,
  readRoute,
  tokenHash,
} from "../../../src/clients/dashboard/route.ts";
import { findTokens } from "../../../src/clients/dashboard/state/find-tokens.ts";
import { DEFAULT_QUERY } from "../../../src/clients/dashboard/state/flare-query.ts";
import { recordsOf } from "../../../src/clients/dashboard/state/group/flare-lists.ts";
import {
  countCauses,
  isPushable,
  isSelective,
  sortRows,
  wantedFlares,
} from "../../../src/clients/dashboard/state/select-flares.ts";
import { eventToken } from "../../../src/clients/dashboard/text/event-token.ts";
import type { StreamEvent } from "../../../src/clients/sdk/index.ts";
import { formatMinutes, formatSpan } from "../../../src/clients/text/span.ts";
import { SAMPLE_EXPLANATION, SAMPLE_FLARE, SAMPLE_OUTCOME } from "../../support/world/samples.ts";

const flare = (id: string, more: object = {}) => ({
  ...SAMPLE_FLARE,
  id,
  token: { ...SAMPLE_FLARE.token, symbol: id },
  ...more,
});
const idsOf = (flares: readonly { readonly id: string }[]) => flares.map(({ id }) => id).join();

test("a search covers the symbol and the address; flares with warnings can be hidden", () => {
  const flares = [flare("ONE"), flare("TWO"), flare("THREE")];
  const why = { TWO: { ...SAMPLE_EXPLANATION, warnings: ["honeypot"] } };
  const wanted = (search: string, hidesWarned = false) =>
    idsOf(wantedFlares(flares, why, { ...DEFAULT_QUERY, search, hidesWarned }));
  expect(wanted("")).toBe("ONE,TWO,THREE");
  expect(wanted(" two ")).toBe("TWO");
  expect(wanted(SAMPLE_FLARE.token.address.toUpperCase())).toBe("ONE,TWO,THREE");
  expect(wanted("", true)).toBe("ONE,THREE");
  expect(wanted("nobody")).toBe("");
});

test("finished flares can be selected by the cause of their end", () => {
  const end = (minute: number) => ({ finished_trending_at: `2026-01-01T02:0${minute}:00.000Z` });
  const flares = [flare("ONE", end(1)), flare("TWO", end(3)), flare("THREE", end(2)), flare("OLD", end(0))];
  const ended = (finish_cause: "canary" | "faded") => ({ ...SAMPLE_EXPLANATION, finish_cause });
  const why = { ONE: ended("canary"), TWO: ended("faded"), THREE: ended("canary") };
  const query = { ...DEFAULT_QUERY, channel: "flares.finished", cause: "canary" } as const;
  const wanted = wantedFlares(flares, why, query);
  expect(idsOf(wanted)).toBe("ONE,THREE");
  expect([isSelective(query), isSelective({ ...query, channel: "flares.pro" })]).toEqual([true, false]);
  expect([...countCauses(flares, why)]).toEqual([
    ["canary", 2],
    ["faded", 1],
  ]);
});

test("rows are sorted by the column of the order, greatest first; unknown values come last, and ties keep their order", () => {
  const rows = [
    { id: "A", change: 1 },
    { id: "B", change: 5 },
    { id: "C", change: undefined },
    { id: "D", change: 5 },
  ];
  const value = ({ change }: (typeof rows)[number]) => change;
  const columns = [{ order: "newest" }, { order: "change", value }] as const;
  expect(idsOf(sortRows(rows, columns, "change"))).toBe("B,D,A,C");
  for (const order of ["newest", "liquidity"] as const)
    expect(idsOf(sortRows(rows, columns, order))).toBe("A,B,C,D");
});

test("spans, percentages, dollars and prices are short, and unknown amounts are a dash", () => {
  expect([
    formatSpan(-5),
    formatSpan(59_999),
    formatSpan(250_000),
    formatSpan(3_900_000),
    formatSpan(200_000_000),
  ]).toEqual(["0s", "59s", "4m 10s", "1h 05m", "2d"]);
  const minutes = [-1, 59_999, 60_000, 3_900_000, 7_500_000].map(formatMinutes);
  expect(minutes).toEqual(["< 1 min", "< 1 min", "1 min", "65 min", "2h 05m"]);
  expect([formatPct(12.4), formatPct(-3.44, 1), formatPct(-0.01)]).toEqual(["+12 %", "−3.4 %", "±0 %"]);
  expect([formatUsd("0"), formatUsd("12345.6"), formatUsd("nonsense")]).toEqual(["–", "$12.3K", "–"]);
  expect([
    ...["0.000000003542", "0.0000099999", "0.00001", "0.000000000000000001"].map(formatPrice),
    ...["0.001844", "1.11649", "999.96", "1003.267", "63412.5", "2345678"].map(formatPrice),
    ...["0", "nonsense", "-1"].map(formatPrice),
  ]).toEqual([
    ...["0.0₈3542", "0.00001", "0.00001", "0.0₁₇1"],
    ...["0.001844", "1.116", "1,000", "1,003.27", "63,412.5", "2.3M"],
    ...["–", "–", "–"],
  ]);
});

test("huge numbers are abbreviated", () => {
  expect([9_999, 10_000, -987_654_321, 1e15, -3e300].map((pct) => formatPct(pct))).toEqual([
    ...["+9999 %", "+10K %", "−987.7M %", "+1e+15 %", "−3e+300 %"],
  ]);
  expect([formatPct(9_999.94, 1), formatPct(12_345.6, 1)]).toEqual(["+9999.9 %", "+12.3K %"]);
  expect([0, 99_999, 100_000, 888_888_888].map(formatCount)).toEqual(["0", "99999", "100K", "888.9M"]);
  expect([formatUsd("999949999999999"), formatUsd("1e18")]).toEqual(["$999.9T", "$1e+18"]);
});

test("dollars below a thousand are whole, and no known amount looks like nothing", () => {
  expect(["710.3", "987.6", "999.6", "1049", "0.3", "1"].map(formatUsd)).toEqual([
    ...["$710", "$988", "$1K", "$1K", "<$1", "$1"],
  ]);
});

test("an event's symbol comes from the event, or from the lists by its id", () => {
  const view = { flares: { pro: [flare("a"), flare("b")] }, explanations: {} };
  const updated = {
    name: "flare-updated",
    channel: "flares.pro",
    data: { op: "set", id: "b", set: {} },
  };
  const expired = {
    name: "flare-expired",
    channel: "flares.finished",
    data: { op: "remove", id: "b" },
  };
  const symbols = [
    eventToken(updated as StreamEvent, view),
    eventToken(updated as StreamEvent, undefined),
    eventToken({ name: "flare-started", data: { flare: flare("c") } } as unknown as StreamEvent, view),
    eventToken(expired as StreamEvent, view),
  ];
  expect(symbols.map((token) => token?.symbol)).toEqual(["b", undefined, "c", undefined]);
});

test("an address opens its page, or what flares now if it is unknown", () => {
  const now = { page: "now", query: DEFAULT_QUERY };
  expect(readRoute("#/markets")).toEqual({ page: "markets", board: "strongest", group: undefined });
  const choice = { board: "longest", group: "matic" } as const;
  expect(readRoute(marketsHash(choice))).toEqual({ page: "markets", ...choice });
  expect(readRoute("#/markets?group=sui&board=best")).toEqual(readRoute("#/markets"));
  expect(readRoute(tokenHash("matic", "0xABC"))).toEqual({
    page: "token",
    group: "matic",
    token: "0xabc",
    range: undefined,
  });
  // The symbols of two exchange tokens may differ only in case.
  expect(readRoute(tokenHash("exchange", "A/b", "6h"))).toEqual({
    page: "token",
    group: "exchange",
    token: "A/b",
    range: "6h",
  });
  for (const hash of ["", "#", "#/token", "#/nothing", "#content", flaresHash(DEFAULT_QUERY)])
    expect(readRoute(hash)).toEqual(now);
  expect(readRoute("#/token/%E0%A4%A")).toEqual({
    page: "token",
    group: "bsc",
    token: "%e0%a4%a",
    range: undefined,
  });
});

test("other spellings of an address lead to its canonical form, and never to another server", () => {
  for (const hash of ["#/token/bsc/0xabc", "#/token/exchange/A%2FB", "#/now", "#/token", "", "#content"])
    expect([hash, canonicalOf(hash)]).toEqual([hash, undefined]);
  expect(canonicalOf("#/token/0xABC")).toBe("#/token/bsc/0xabc");
  expect(canonicalOf("#/token/bsc/0xABC")).toBe("#/token/bsc/0xabc");
  expect(readRoute("#/token/bsc/0xABC")).toEqual(readRoute("#/token/0xabc"));
  expect(canonicalOf("#/token/0xABC?window=6h")).toBe("#/token/bsc/0xabc?window=6h");
  expect(canonicalOf("#/token/bsc/0xabc?window=2h")).toBe("#/token/bsc/0xabc");
  expect(canonicalOf("#/token/matic/0xABC")).toBe("#/token/matic/0xabc");
  for (const hash of ["#/nope", "#/nope/x?list=y"]) expect(canonicalOf(hash)).toBe("#/now");
  // These pages are on the server only.
  expect(canonicalOf("#/token/sui/A%2FB")).toBe("token/sui/A%2FB");
  expect(canonicalOf("#/flare/3b24%2F1")).toBe("flare/3b24%2F1");
  // Never another server.
  expect(canonicalOf("#/flare///evil.example")).toBeUndefined();
  expect(canonicalOf("#/token/%2F%2Fevil.example/x")).toBe("token/%2F%2Fevil.example/x");
});

test("the addresses of earlier pages lead to those that replaced them, with the same choices", () => {
  expect(
    [
      "#/flares",
      "#/flares?group=exchange&channels=flares.exchange.free&order=change",
      "#/flares?channels=flares.finished&cause=canary&window=24h",
      "#/newest",
      "#/charts?group=bsc",
      "#/leaderboards?group=matic",
      "#/events?updates=true",
    ].map(canonicalOf),
  ).toEqual([
    "#/now",
    "#/now?group=exchange&channels=flares.exchange.free&order=change",
    "#/finished?cause=canary",
    "#/markets?board=new",
    "#/markets?group=bsc",
    "#/markets?board=longest&group=matic",
    "#/feed?updates=true",
  ]);
  expect(canonicalOf("#/record?window=7d")).toBeUndefined();
});

test("a finished flare links to its own page for visitors without a key; any other link is to its token's page", () => {
  const flare = { ...SAMPLE_FLARE, id: "f/1", token: { ...SAMPLE_FLARE.token, address: "0xAB" } };
  const over = { ...flare, finished_trending_at: flare.started_trending_at };
  expect(flarePageHref(over, true)).toBe("flare/f%2F1");
  expect(flarePageHref(over, false)).toBe("#/token/bsc/0xab");
  expect(flarePageHref({ ...flare, finished_trending_at: null }, true)).toBe("#/token/bsc/0xab");
});

test("a token's flares are the listed and the stored finished ones; for those in both, the lists decide", () => {
  const over = { finished_trending_at: "2026-01-01T02:00:00.000Z" };
  const later = { started_trending_at: "2026-01-02T00:00:00.000Z" };
  const record = (one: Flare, cause: "faded" | null): FlareRecord => ({
    flare: one,
    started: SAMPLE_EXPLANATION,
    why: null,
    outcome: null,
    cause,
  });
  const stored = [
    record(flare("TWO", later), null),
    record(flare("GONE"), null),
    record(flare("OLD", over), "faded"),
  ];
  const ended = { ...SAMPLE_EXPLANATION, finish_cause: "canary" as const };
  const known = { explanations: { TWO: ended }, outcomes: { TWO: SAMPLE_OUTCOME } };
  const lists = [flare("TWO", { ...later, ...over }), flare("NEW", later)];
  const records = recordsOf(stored, lists, known);
  expect(records.map(({ flare: { id }, started, cause, outcome }) => [id, started, cause, outcome])).toEqual([
    ["TWO", SAMPLE_EXPLANATION, "canary", SAMPLE_OUTCOME],
    ["NEW", null, null, null],
    ["OLD", SAMPLE_EXPLANATION, "faded", null],
  ]);
});

test("the search finds flares of every followed group, and offers a pasted address in its own case", () => {
  const gone = { token: { ...SAMPLE_FLARE.token, symbol: "GONE", address: "0xAB" } };
  const flares = { pro: [flare("PRO")], finished_trending: [flare("2", gone)] };
  const lists = { explanations: {}, flares };
  const others = [
    { group: "exchange", lists: undefined },
    { group: "base", lists },
    { group: "solana", lists: new Error("full") },
  ] as const;
  const found = (text: string) =>
    findTokens({ explanations: {} }, others, text).map(({ group, key }) => `${group} ${key}`);
  const key = SAMPLE_FLARE.token.address.toLowerCase();
  expect(found("PRO")).toEqual([`base ${key}`]);
  expect(found("gone")).toEqual(["base 0xab"]);
  expect(found("nobody")).toEqual([]);
  const mint = "So11111111111111111111111111111111111111112";
  expect(found(mint)).toEqual([`solana ${mint}`]);
  expect(found(`0x${"A".repeat(40)}`)).toEqual([`bsc 0x${"a".repeat(40)}`]);
});

test("before the lists are loaded, a stored flare stays running", () => {
  const running = { flare: flare("ONE"), started: null, why: null, outcome: null, cause: null };
  expect(recordsOf([running], [], undefined)).toEqual([running]);
});

test("only views by which a rule of the server can select are pushed", () => {
  const ended = { ...DEFAULT_QUERY, channel: "flares.finished" } as const;
  expect([DEFAULT_QUERY, ended, { ...ended, minLiquidity: 10_000 }].map(isPushable)).toEqual([
    true,
    true,
    true,
  ]);
  const others = [
    { ...ended, cause: "canary" },
    { ...ended, hidesWarned: true },
    { ...ended, search: "cake" },
  ] as const;
  expect(others.map(isPushable)).toEqual([false, false, false]);
});
