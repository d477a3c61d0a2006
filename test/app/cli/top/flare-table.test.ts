import fc from "fast-check";
import { expect, test } from "vitest";
import { columns } from "../../../../src/app/cli/terminal/plain-text.ts";
import type { FlareRow } from "../../../../src/app/cli/top/flare-row.ts";
import { readFlares } from "../../../../src/app/cli/top/flare-row.ts";
import {
  type FlareList,
  type SortColumn,
  sortRows,
  type TableLayout,
  tableLines,
} from "../../../../src/app/cli/top/flare-table.ts";
import { pageLines, type TopPage } from "../../../../src/app/cli/top/top-page.ts";
import { INITIAL_STATE, SORT_KEYS } from "../../../../src/app/cli/top/top-state.ts";
import type { View } from "../../../../src/clients/sdk/index.ts";
import { lawRuns } from "../../../support/law-runs.ts";
import { anyText } from "../../../support/random/any-text.ts";
import { SAMPLE_EXPLANATION, SAMPLE_FLARE, SAMPLE_OUTCOME } from "../../../support/world/samples.ts";

const STARTED = Date.parse(SAMPLE_FLARE.started_trending_at);
const view = (view: unknown) => view as View;
const { rows } = readFlares(
  view({
    flares: { pro: [SAMPLE_FLARE], finished_trending: [] },
    explanations: { [SAMPLE_FLARE.id]: { ...SAMPLE_EXPLANATION, score: 4.123, threshold: 3, warnings: [] } },
  }),
  "bsc",
);
const [sample = {} as FlareRow] = rows;
const LAYOUT: TableLayout = {
  width: 100,
  height: 20,
  order: { by: "age", reversed: false },
  nowMs: STARTED + 12 * 60_000,
  paint: (_style, text) => text,
};
const columnsAt = (width: number, list: FlareList = "now") =>
  tableLines([sample], { ...LAYOUT, list, width })[0]
    ?.trim()
    .split(/ {2,}|(?<=age)/)
    .join(", ");

test("a flare's row has its age, change, trend, counts, liquidity, score, symbol and warnings", () => {
  const risky = {
    ...sample,
    id: "risky",
    symbol: "RUG",
    change: -45,
    warnings: ["honeypot", "concentrated"],
  };
  const layout = { ...LAYOUT, selected: "risky", trendOf: () => "▁▂▃▄▅▆▇███" };
  expect(tableLines([sample, risky], layout).map((line) => line.trimEnd())).toEqual([
    "      age     5 min   last hour    buys   sells  liquidity  score  symbol            warnings",
    "   12 min     +14 %  ▁▂▃▄▅▆▇███      41       9     $51.2K   4.12  UNI",
    ">! 12 min     −45 %  ▁▂▃▄▅▆▇███      41       9     $51.2K   4.12  RUG               honeypot, conc…",
  ]);
});

test("a finished flare's row has its end, duration, peak and end changes, cause and symbol", () => {
  const endedAtMs = STARTED + 4 * 60_000;
  const outcome = {
    ...SAMPLE_OUTCOME,
    peak_change: 35,
    end_change: -71,
    change_15m: null,
    ended_by: "canary",
  } as const;
  expect(tableLines([{ ...sample, endedAtMs, outcome }], { ...LAYOUT, list: "finished" })).toEqual([
    expect.stringMatching(/^ {4}ended {2}lasted {6}peak {7}end {4}15 min {2}ended by {10}symbol *$/),
    expect.stringMatching(/^ {4}8 min {3}4 min {5}\+35 % {5}−71 % {9}- {2}possible rug {6}UNI *$/),
  ]);
});

test("the longest change is not cut", () => {
  expect(tableLines([{ ...sample, change: 999_900_000 }], LAYOUT)[1]).toContain(" +999.9M%  ");
});

test("a change that is shown as 0 % has neither a sign nor a color", () => {
  const changeOf = (change: number) => {
    const paint: TableLayout["paint"] = (style, text) => `${style}<${text.trim()}>`;
    return /(?:green|red)<[^<]* %>/.exec(
      tableLines([{ ...sample, change }], { ...LAYOUT, paint }).join("\n"),
    )?.[0];
  };
  expect([0.6, -0.6].map(changeOf)).toEqual(["green<+1 %>", "red<−1 %>"]);
  expect([0.4, 0, -0.4].map(changeOf)).toEqual([undefined, undefined, undefined]);
  for (const change of [0.4, 0, -0.4])
    expect(tableLines([{ ...sample, change }], LAYOUT).join("\n")).toMatch(/ ±0 %/);
});

test("a narrow terminal drops columns, the warnings first and the symbol never", () => {
  expect([120, 80, 70, 60, 50, 46, 38, 30, 22, 12, 5].map((width) => columnsAt(width))).toEqual([
    "age, 5 min, last hour, buys, sells, liquidity, score, symbol, warnings",
    "age, 5 min, last hour, buys, sells, liquidity, score, symbol",
    "age, 5 min, last hour, buys, liquidity, score, symbol",
    "age, 5 min, last hour, liquidity, score, symbol",
    "age, 5 min, last hour, score, symbol",
    "age, 5 min, last hour, symbol",
    "age, 5 min, symbol",
    "age, 5 min, symbol",
    "5 min, symbol",
    "symbol",
    "symb…",
  ]);
  expect([80, 50, 30].map((width) => columnsAt(width, "finished"))).toEqual([
    "ended, lasted, peak, end, 15 min, ended by, symbol",
    "peak, end, ended by, symbol",
    "peak, symbol",
  ]);
});

test("if not all rows fit, the last line counts the hidden ones", () => {
  const lines = tableLines(Array<FlareRow>(9).fill(sample), { ...LAYOUT, height: 5 });
  expect([lines.length, lines.at(-1)]).toEqual([5, "and 6 more"]);
});

test("an age is never cut, even in an old recording", () => {
  const ageAfter = (ms: number) =>
    tableLines([sample], { ...LAYOUT, nowMs: STARTED + ms })[1]
      ?.slice(3, 9)
      .trim();
  const day = 86_400_000;
  expect([59_000, 86_000_000, 99.9 * day, 100 * day, 3_297 * day].map(ageAfter)).toEqual([
    "59 s",
    "23.9 h",
    "99.9 d",
    "100 d",
    "3297 d",
  ]);
});

test("a missing or invalid value is a dash, not an error", () => {
  const odd = [null, 7, { token: 5 }, { recent_price_change: "9", token: { symbol: 1 }, liquidity: "0" }];
  const read = readFlares(view({ flares: { free: odd }, explanations: null }), "bsc");
  expect([read.list, read.rows.length, readFlares(undefined, "bsc").rows]).toEqual(["free", 2, []]);
  expect(tableLines(read.rows, LAYOUT)[1]?.trim()).toMatch(/^(- +){5}-$/);
});

test("a flare of the group exchange shows its pair and exchange, and no trend; flares of other groups are left out", () => {
  const untraded = { latest_buy_count: 0, latest_sell_count: 0 };
  const pair = { ...SAMPLE_FLARE, ...untraded, pair: "BTC/USDT", exchange: "binance" };
  const both = view({ flares: { pro: [SAMPLE_FLARE] }, "flares.exchange": { pro: [pair] } });
  const { rows, group } = readFlares(both, "exchange");
  expect(rows.map(({ symbol }) => symbol)).toEqual(["BTC/USDT"]);
  const at = (width: number) => tableLines(rows, { ...LAYOUT, group, width }).map((line) => line.trim());
  expect(at(100)[0]).toMatch(/ score {2}symbol +exchange +warnings$/);
  expect(at(100)[0]).not.toContain("last hour");
  // Candles do not count trades.
  expect(at(100)[1]).toMatch(/ - {7}- .* BTC\/USDT +binance/);
  expect(at(50)[1]).toContain("BTC/USDT");
  expect(at(50)[1]).not.toContain("binance");
  expect(tableLines(rows, LAYOUT)[0]).not.toContain("exchange");
});

test("[W41] while the data is live, the page shows which part still reads its past, and how much of it", () => {
  const part = { name: "bsc", state: "live", reason: "", observed_at: null, data_age_ms: 0 } as const;
  const filling = { read_ms: 41_000, of_ms: 90_000 };
  const freshness = { state: "live", reason: "", ageMs: 0, observedAt: null } as const;
  const page: TopPage = {
    host: "h",
    connection: { state: "live", transport: "sse", reason: "" },
    cursor: undefined,
    freshness: { ...freshness, parts: [{ ...part, filling }] },
    flares: readFlares(undefined, "bsc"),
    started: 0,
    ended: 0,
    missed: 0,
  };
  const layout = { width: 80, height: 20, state: INITIAL_STATE, paint: LAYOUT.paint };
  expect(pageLines(page, layout)).toContain("reading the past: bsc: 41 of 90 s");
  expect(pageLines({ ...page, freshness }, layout).join()).not.toContain("reading the past");
});

const hostile = fc.oneof(
  anyText(),
  fc.string({ unit: fc.constantFrom("\u001B[2J", "\u202E", "狗", "❤\uFE0F", "🇩🇪", "א", "\n", "a\u0301") }),
  fc.constant("x".repeat(100_000)),
);
const anyNumber = fc.oneof(fc.double(), fc.integer());
const anyRow: fc.Arbitrary<FlareRow> = fc.record({
  id: hostile,
  symbol: hostile,
  name: hostile,
  address: hostile,
  price: hostile,
  pricedAtMs: anyNumber,
  why: hostile,
  startedAtMs: anyNumber,
  endedAtMs: anyNumber,
  exchange: hostile,
  outcome: fc.constantFrom(undefined, SAMPLE_OUTCOME),
  change: anyNumber,
  buys: anyNumber,
  sells: anyNumber,
  liquidityUsd: anyNumber,
  score: anyNumber,
  threshold: anyNumber,
  warnings: fc.array(hostile, { maxLength: 3 }),
});
const anyOrder = fc.record({
  by: fc.constantFrom(...Object.values(SORT_KEYS)),
  reversed: fc.boolean(),
});

const anyState = fc.record({
  list: fc.constantFrom("now", "finished"),
  order: anyOrder,
  filter: fc.constantFrom("", "a", "\u05D0"),
  isTyping: fc.boolean(),
  isHelp: fc.boolean(),
  isWhy: fc.boolean(),
  selected: fc.constant(undefined),
  at: fc.nat(8),
  first: fc.nat(8),
});
const anySize = fc.oneof(
  fc.constantFrom({ width: 80, height: 24 }, { width: 120, height: 40 }, { width: 50, height: 15 }),
  fc.record({ width: fc.integer({ min: 1, max: 150 }), height: fc.integer({ min: 0, max: 12 }) }),
);

test("[law] for any names, no line is too wide or moves the cursor, and there are never too many lines", () => {
  fc.assert(
    fc.property(
      fc.array(anyRow, { maxLength: 8 }),
      anySize,
      anyState,
      hostile,
      (rows, size, state, words) => {
        const group = rows.length % 2 === 0 ? "bsc" : "exchange";
        const page: TopPage = {
          host: words,
          connection: { state: "waiting", transport: "sse", reason: words },
          freshness: { state: "stale", reason: words, ageMs: 7, observedAt: words },
          cursor: words,
          flares: { group, list: "pro", rows, finished: rows },
          started: 0,
          ended: 0,
          missed: null,
        };
        const { list, order } = state;
        for (const lines of [
          tableLines(rows, { ...LAYOUT, ...size, list, group, order, trendOf: () => "▁█" }),
          pageLines(page, { ...size, state, paint: LAYOUT.paint }),
        ]) {
          expect(lines.length).toBeLessThanOrEqual(Math.max(1, size.height));
          for (const line of lines) {
            expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
            expect(columns(line)).toBeLessThanOrEqual(size.width);
          }
        }
      },
    ),
    lawRuns(50),
  );
});

test("[law] sorting loses no row, and sorting by change orders by the value, in both directions, with unknown values last", () => {
  fc.assert(
    fc.property(fc.array(anyRow, { maxLength: 12 }), anyOrder, (any, order) => {
      const rows = any.map((row) => ({ ...row, outcome: undefined }));
      const sorted = sortRows(rows, order);
      expect(new Set(sorted)).toEqual(new Set(rows));
      if (order.by !== "change") return;
      const known = sorted.map(({ change }) => change).filter((change) => !Number.isNaN(change));
      expect(sorted.slice(0, known.length).map(({ change }) => change)).toEqual(known);
      const sign = order.reversed ? 1 : -1;
      for (let at = 1; at < known.length; at += 1)
        expect(sign * ((known[at] ?? 0) - (known[at - 1] ?? 0)) >= 0).toBe(true);
    }),
    lawRuns(20),
  );
});

test("each column sorts newest, largest or most first, and symbols from A to Z", () => {
  const low = { ...sample, symbol: "LOW" };
  const high: FlareRow = {
    ...sample,
    symbol: "ZHIGH",
    startedAtMs: STARTED + 1,
    change: 99,
    buys: 99,
    sells: 99,
    liquidityUsd: 1e9,
    score: 9,
    threshold: 3,
    warnings: ["x"],
  };
  const first = (by: SortColumn, reversed = false) => sortRows([low, high], { by, reversed })[0]?.symbol;
  for (const by of Object.values(SORT_KEYS)) {
    expect(first(by)).toBe(by === "symbol" ? "LOW" : "ZHIGH");
    expect(first(by, true)).toBe(by === "symbol" ? "ZHIGH" : "LOW");
  }
});
