import { expect, test } from "vitest";
import { formatCount, formatPrice, formatUsd } from "../../../src/base/lib/text/figures.ts";
import { formatPct } from "../../../src/base/lib/text/percent.ts";
import type { Flare, FlareRecord } from "../../../src/base/model/index.ts";
import {
  canonicalOf,
  flarePageHref,
  flaresHash,
  groupHash,
  readRoute,
  tokenHash,
} from "../../../src/clients/dashboard/route.ts";
import { DEFAULT_QUERY } from "../../../src/clients/dashboard/state/flare-query.ts";
import { recordsOf } from "../../../src/clients/dashboard/state/group/flare-lists.ts";
import {
  countCauses,
  isPushable,
  isSelective,
  sortFlares,
  wantedFlares,
} from "../../../src/clients/dashboard/state/select-flares.ts";
import { eventToken } from "../../../src/clients/dashboard/text/event-token.ts";
import { formatSpan } from "../../../src/clients/dashboard/text/span.ts";
import type { StreamEvent } from "../../../src/clients/sdk/index.ts";
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

test("finished flares can be selected by the cause of their end; in the order newest, the last to end is first", () => {
  const end = (minute: number) => ({ finished_trending_at: `2026-01-01T02:0${minute}:00.000Z` });
  const flares = [flare("ONE", end(1)), flare("TWO", end(3)), flare("THREE", end(2)), flare("OLD", end(0))];
  const ended = (finish_cause: "canary" | "faded") => ({ ...SAMPLE_EXPLANATION, finish_cause });
  const why = { ONE: ended("canary"), TWO: ended("faded"), THREE: ended("canary") };
  const query = { ...DEFAULT_QUERY, channel: "flares.finished", cause: "canary" } as const;
  const wanted = wantedFlares(flares, why, query);
  expect(idsOf(wanted)).toBe("ONE,THREE");
  expect(idsOf(sortFlares(wanted, why, "newest"))).toBe("THREE,ONE");
  expect([isSelective(query), isSelective({ ...query, channel: "flares.pro" })]).toEqual([true, false]);
  expect([...countCauses(flares, why)]).toEqual([
    ["canary", 2],
    ["faded", 1],
  ]);
});

test("flares sort by a number, largest first, and ties keep their order", () => {
  const flares = [
    flare("A", { recent_price_change: 1, liquidity: "9.5" }),
    flare("B", { recent_price_change: 5, liquidity: "10" }),
    flare("C", { recent_price_change: 5, liquidity: "9.4" }),
  ];
  const why = { A: { ...SAMPLE_EXPLANATION, score: 9 } };
  expect(idsOf(sortFlares(flares, why, "newest"))).toBe("A,B,C");
  expect(idsOf(sortFlares(flares, why, "change"))).toBe("B,C,A");
  expect(idsOf(sortFlares(flares, why, "liquidity"))).toBe("B,A,C");
  const ended = flares.map((flare) => ({ ...flare, finished_trending_at: flare.started_trending_at }));
  const outcomes = { A: { ...SAMPLE_OUTCOME, peak_change: 7 }, C: { ...SAMPLE_OUTCOME, peak_change: 9 } };
  expect(idsOf(sortFlares(ended, why, "change", outcomes))).toBe("C,A,B");
  expect(idsOf(sortFlares(flares, why, "score"))).toBe("A,B,C");
});

test("spans, percentages, dollars and prices are short, and unknown amounts are a dash", () => {
  expect([
    formatSpan(-5),
    formatSpan(59_999),
    formatSpan(250_000),
    formatSpan(3_900_000),
    formatSpan(200_000_000),
  ]).toEqual(["0s", "59s", "4m 10s", "1h 05m", "2d"]);
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

test("an address opens its page, or the flares if it is unknown", () => {
  const flares = { page: "flares", query: DEFAULT_QUERY };
  expect(readRoute("#/charts")).toEqual({ page: "charts", group: undefined });
  expect(readRoute(groupHash("leaderboards", "matic"))).toEqual({
    page: "leaderboards",
    group: "matic",
  });
  expect(readRoute("#/charts?group=sui")).toEqual({
    page: "charts",
    group: undefined,
  });
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
    expect(readRoute(hash)).toEqual(flares);
  expect(readRoute("#/token/%E0%A4%A")).toEqual({
    page: "token",
    group: "bsc",
    token: "%e0%a4%a",
    range: undefined,
  });
});

test("other spellings of an address lead to its canonical form, and never to another server", () => {
  for (const hash of ["#/token/bsc/0xabc", "#/token/exchange/A%2FB", "#/flares", "#/token", "", "#content"])
    expect([hash, canonicalOf(hash)]).toEqual([hash, undefined]);
  expect(canonicalOf("#/token/0xABC")).toBe("#/token/bsc/0xabc");
  expect(canonicalOf("#/token/bsc/0xABC")).toBe("#/token/bsc/0xabc");
  expect(readRoute("#/token/bsc/0xABC")).toEqual(readRoute("#/token/0xabc"));
  expect(canonicalOf("#/token/0xABC?window=6h")).toBe("#/token/bsc/0xabc?window=6h");
  expect(canonicalOf("#/token/bsc/0xabc?window=2h")).toBe("#/token/bsc/0xabc");
  expect(canonicalOf("#/token/matic/0xABC")).toBe("#/token/matic/0xabc");
  for (const hash of ["#/nope", "#/nope/x?list=y"]) expect(canonicalOf(hash)).toBe("#/flares");
  // These pages are on the server only.
  expect(canonicalOf("#/token/sui/A%2FB")).toBe("token/sui/A%2FB");
  expect(canonicalOf("#/flare/3b24%2F1")).toBe("flare/3b24%2F1");
  // Never another server.
  expect(canonicalOf("#/flare///evil.example")).toBeUndefined();
  expect(canonicalOf("#/token/%2F%2Fevil.example/x")).toBe("token/%2F%2Fevil.example/x");
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
