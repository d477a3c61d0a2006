import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { z } from "zod";
import {
  BscChartItem,
  BscLeaderboardEntry,
  ChainChartItem,
  ChainToken,
  Charts,
  ContractSource,
  ExchangeChartItem,
  ExchangeToken,
  Flare,
  Flares,
  ForumPost,
  GROUPS,
  isAdditional,
  Leaderboards,
  MarketData,
  NestedFlare,
  SocialData,
  Token,
} from "../../../src/base/model/index.ts";
import {
  SAMPLE_BSC_CHART_ITEM,
  SAMPLE_BSC_ENTRY,
  SAMPLE_EXCHANGE_CHART_ITEM,
  SAMPLE_FLARE,
  SAMPLE_MATIC_CHART_ITEM,
  SAMPLE_NESTED_FLARE,
  SAMPLE_SNAPSHOT,
} from "../../support/world/samples.ts";
import { readSpecTables, SPEC_TABLES, type SpecTable } from "./spec-tables.ts";

/*
 * Checks the schemas against every row of the specification's tables, by the values that they
 * accept and reject.
 */

type Row = readonly string[];

/** One form in which a table's object is served. */
interface Form {
  readonly name: string;
  readonly table: SpecTable;
  readonly schema: z.ZodType;
  readonly sample: object;
  /** Whether the form has the field of this row. */
  readonly has: (row: Row) => boolean;
}

const all = () => true;
const noteHas = (pattern: RegExp) => (row: Row) => pattern.test(row[2] ?? "");
const isFlaresOnly = noteHas(/flares responses only/);
const isNestedOnly = noteHas(/nested form only/i);
const tokenFieldsOf = (table: SpecTable) => {
  const type = SPEC_TABLES[table].find(([field]) => field === "token")?.[1] ?? "";
  return ([field = ""]: Row) => new RegExp(`\\b${field}\\b`).test(type);
};

const FORMS: readonly Form[] = [
  {
    name: "a flare in a flares response",
    table: "2.1 Flare (used by flares; an object with the same shape is nested in charts and leaderboards)",
    schema: Flare,
    sample: SAMPLE_FLARE,
    has: (row) => !isNestedOnly(row),
  },
  {
    name: "a nested flare",
    table: "2.1 Flare (used by flares; an object with the same shape is nested in charts and leaderboards)",
    schema: NestedFlare,
    sample: SAMPLE_NESTED_FLARE,
    has: (row) => !isFlaresOnly(row),
  },
  {
    name: "a forum post",
    table: "2.2 forum_post (when not null)",
    schema: ForumPost,
    sample: SAMPLE_FLARE.forum_post ?? {},
    has: all,
  },
  {
    name: "social data",
    table: "2.3 social_data (when not null)",
    schema: SocialData,
    sample: SAMPLE_FLARE.social_data ?? {},
    has: all,
  },
  {
    name: "a contract source",
    table: "2.4 contract_source",
    schema: ContractSource,
    sample: SAMPLE_FLARE.contract_source,
    has: all,
  },
  {
    name: "market data",
    table: "2.5 market_data (when not null)",
    schema: MarketData,
    sample: SAMPLE_FLARE.market_data ?? {},
    has: all,
  },
  {
    name: "a token in flares and in bsc items",
    table: "2.6 token",
    schema: Token,
    sample: SAMPLE_FLARE.token,
    has: all,
  },
  {
    name: "a token in exchange items",
    table: "2.6 token",
    schema: ExchangeToken,
    sample: SAMPLE_EXCHANGE_CHART_ITEM.token,
    has: tokenFieldsOf("2.9 Chart item, group exchange"),
  },
  {
    name: "a token in matic items",
    table: "2.6 token",
    schema: ChainToken,
    sample: SAMPLE_MATIC_CHART_ITEM.token,
    has: tokenFieldsOf("2.10 Chart item, group matic"),
  },
  {
    name: "a flares response",
    table: "2.7 Flares response (object)",
    schema: Flares,
    sample: SAMPLE_SNAPSHOT.flares,
    has: all,
  },
  {
    name: "a bsc chart item",
    table: "2.8 Chart item, group bsc",
    schema: BscChartItem,
    sample: SAMPLE_BSC_CHART_ITEM,
    has: all,
  },
  {
    name: "an exchange chart item",
    table: "2.9 Chart item, group exchange",
    schema: ExchangeChartItem,
    sample: SAMPLE_EXCHANGE_CHART_ITEM,
    has: all,
  },
  {
    name: "a matic chart item",
    table: "2.10 Chart item, group matic",
    schema: ChainChartItem,
    sample: SAMPLE_MATIC_CHART_ITEM,
    has: all,
  },
  {
    name: "a charts response",
    table: "2.11 Charts response (object)",
    schema: Charts,
    sample: SAMPLE_SNAPSHOT.charts,
    has: all,
  },
  {
    name: "a bsc leaderboard entry",
    table: "2.12 Leaderboard entry (group bsc)",
    schema: BscLeaderboardEntry,
    sample: SAMPLE_BSC_ENTRY,
    has: all,
  },
  {
    name: "a leaderboards response",
    table: "2.13 Leaderboards response (object)",
    schema: Leaderboards,
    sample: SAMPLE_SNAPSHOT.leaderboards,
    has: all,
  },
];

const ADDITIONAL: readonly string[] = GROUPS.filter(isAdditional);

/**
 * Fields that we serve and the tables do not have. The specification promises this group in its
 * purpose and omits it from the table.
 */
const BEYOND_THE_TABLES: Readonly<Record<string, readonly string[]>> = {
  "a charts response": ["avalanche", ...ADDITIONAL],
  "a leaderboards response": ADDITIONAL,
};

type Probe = readonly [type: RegExp, accepts: readonly unknown[], rejects: readonly unknown[]];

/**
 * For the types that match a pattern: values that a field accepts, and values of other types that
 * it rejects. The first match counts. Each field must also accept the sample's own value.
 */
const PROBES: readonly Probe[] = [
  [/^string \(UUID\)/, ["3b241101-e2bb-5255-8caf-4136c566a962"], ["3b241101", "", 7, {}]],
  [
    /^string \(decimal\)/,
    ["0", "0.00000001", "12345678901234567890.5"],
    ["1e5", "NaN", "", ".5", "1,5", 1.5, {}],
  ],
  [/^string \((hexadecimal )?token address\)/, ["0x00fF"], ["00ff", "0x", "0xzz", 255]],
  [/^string/, [], [5, true, {}, []]],
  [
    /^timestamp/,
    ["2026-11-21T08:00:00.000Z"],
    ["2026-11-21T08:00:00Z", "2026-11-21", "2026-11-21T08:00:00.000+01:00", 0],
  ],
  [
    /^number \(integer in the samples; may be negative\)/,
    [-12, 0, 250],
    ["5", true, Number.NaN, Number.POSITIVE_INFINITY],
  ],
  [/^number/, [1.25, 3], ["5", true, Number.NaN, Number.POSITIVE_INFINITY]],
  [/^integer/, [1, 7], ["5", 1.5, true, Number.NaN]],
  [/^boolean/, [true, false], ["true", 0, 1]],
  [/^array of numbers/, [[], [0.5], [-1.25, 0, 3]], [["1"], [null], 5, {}]],
  [/^array/, [[]], [{}, "[]", [5], [null]]],
  [/^(object|Flare)/, [], ["{}", 5, [], true]],
];

for (const { name, table, schema, sample, has } of FORMS) {
  describe(`${name} conforms to table ${table.split(" ")[0]}`, () => {
    const rows: readonly Row[] = SPEC_TABLES[table];
    const served = rows.filter(has);

    test("it has exactly the table's fields for this form, apart from listed extras", () => {
      const fields = served.map(([field]) => field);
      expect(fields.length).toBeGreaterThan(1);
      expect(schema.safeParse(sample).success).toBe(true);
      expect(Object.keys(sample).toSorted()).toEqual(
        [...fields, ...(BEYOND_THE_TABLES[name] ?? [])].toSorted(),
      );
      const beyond = Object.fromEntries(rows.filter((row) => !has(row)).map(([field = ""]) => [field, "x"]));
      expect(schema.parse({ ...sample, ...beyond })).toEqual(sample);
    });

    for (const [field = "", type = "", note = ""] of served) {
      test(`${field}: ${type}`, () => {
        const accepts = (value: unknown) => schema.safeParse({ ...sample, [field]: value }).success;
        const { [field]: own, ...without } = sample as Record<string, unknown>;
        expect(schema.safeParse(without).success, "must not be absent").toBe(false);
        expect(accepts(own)).toBe(true);
        expect(accepts(undefined)).toBe(false);
        expect(accepts(null), "null").toBe(/\bor null\b/.test(type));
        const [, good, bad] =
          PROBES.find(([pattern]) => pattern.test(type)) ?? expect.fail(`no probe for ${type}`);
        for (const value of good) expect(accepts(value), `accepts ${JSON.stringify(value)}`).toBe(true);
        for (const value of bad) expect(accepts(value), `rejects ${JSON.stringify(value)}`).toBe(false);
        if (/may be negative/.test(note)) expect(accepts(-5)).toBe(true);
      });
    }
  });
}

test("each table of the specification is compared with a form", () => {
  expect(new Set(FORMS.map(({ table }) => table))).toEqual(new Set(Object.keys(SPEC_TABLES)));
});

test("the token of a group lacks the fields that table 2.6 notes as absent from the group", () => {
  for (const [field, , note] of SPEC_TABLES["2.6 token"]) {
    if (/Absent in.*exchange/.test(note) || /absent in exchange/.test(note))
      expect(ExchangeToken.shape).not.toHaveProperty(field);
    if (/Absent in matic/.test(note)) expect(ChainToken.shape).not.toHaveProperty(field);
  }
});

test("a contract source accepts only the pairs of status and message in table 2.4", () => {
  const accepts = (status: string, message: string) => ContractSource.safeParse({ status, message }).success;
  expect([accepts("1", "OK"), accepts("0", "NOTOK")]).toEqual([true, true]);
  expect([accepts("0", "OK"), accepts("1", "NOTOK"), accepts("2", "OK")]).toEqual([false, false, false]);
});

test("upvote_site_data rejects an object, because only null was ever seen", () => {
  expect(NestedFlare.safeParse({ ...SAMPLE_NESTED_FLARE, upvote_site_data: {} }).success).toBe(false);
});

test("leaderboards and charts have the same groups, in the same order", () => {
  expect(Object.keys(Leaderboards.shape)).toEqual(GROUPS);
  expect(Object.keys(Charts.shape)).toEqual(GROUPS);
});

test("a chart has at most ten items", () => {
  const chart = (count: number) => ({
    ...SAMPLE_SNAPSHOT.charts,
    bsc: Array(count).fill(SAMPLE_BSC_CHART_ITEM),
  });
  expect([Charts.safeParse(chart(10)).success, Charts.safeParse(chart(11)).success]).toEqual([true, false]);
});

const SPEC = fileURLToPath(new URL("../../../../shared/spec/token-trend-data-service.md", import.meta.url));
test.skipIf(!existsSync(SPEC))(
  "the tables copied here equal those of ../shared/spec (skipped if that is absent)",
  () => {
    expect(readSpecTables(readFileSync(SPEC, "utf8"))).toEqual(SPEC_TABLES);
  },
);
