import fc from "fast-check";
import { expect, test } from "vitest";
import { columns } from "../../src/cli/terminal/plain-text.ts";
import type { FlareRow } from "../../src/cli/top/flare-row.ts";
import { readFlares } from "../../src/cli/top/flare-row.ts";
import { type SortColumn, sortRows, type TableForm, tableLines } from "../../src/cli/top/flare-table.ts";
import { pageLines, SORT_KEYS, type TopPage } from "../../src/cli/top/top-page.ts";
import type { View } from "../../src/client/index.ts";
import { SAMPLE_EXPLANATION, SAMPLE_FLARE } from "../support/samples.ts";

const STARTED = Date.parse(SAMPLE_FLARE.started_trending_at);
const view = (view: unknown) => view as View;
const { rows } = readFlares(
  view({
    flares: { pro: [SAMPLE_FLARE], finished_trending: [] },
    explanations: { [SAMPLE_FLARE.id]: { ...SAMPLE_EXPLANATION, score: 4.123, threshold: 3, warnings: [] } },
  }),
);
const [sample = {} as FlareRow] = rows;
const FORM: TableForm = {
  width: 100,
  height: 20,
  order: { by: "age", reversed: false },
  nowMs: STARTED + 12 * 60_000,
  paint: (_style, text) => text,
};
const columnsAt = (width: number) =>
  tableLines([sample], { ...FORM, width })[0]
    ?.trim()
    .split(/ {2,}|(?<=age)/)
    .join(" ")
    .replace(/ +/g, " ");

test("a flare is a line of its age, changes, counts, liquidity, score, symbol and warnings", () => {
  const risky = { ...sample, symbol: "RUG", change: -45, warnings: ["honeypot", "concentrated"] };
  expect(tableLines([sample, risky], FORM).map((line) => line.trimEnd())).toEqual([
    "     age     5 min    buys   sells  liquidity  score/limit  symbol            warnings",
    "  12 min     +14 %      41       9     $51.2k    4.12/3.00  UNI",
    "! 12 min     -45 %      41       9     $51.2k    4.12/3.00  RUG               honeypot, concentrated",
  ]);
});

test("a narrow terminal drops columns, the warnings' names first and the symbol never", () => {
  expect([100, 70, 62, 54, 46, 40, 30, 22, 12, 5].map(columnsAt)).toEqual([
    "age 5 min buys sells liquidity score/limit symbol warnings",
    "age 5 min buys sells liquidity score/limit symbol",
    "age 5 min buys liquidity score/limit symbol",
    "age 5 min liquidity score/limit symbol",
    "age 5 min score/limit symbol",
    "age 5 min symbol",
    "age 5 min symbol",
    "5 min symbol",
    "symbol",
    "symb…",
  ]);
});

test("if not all rows fit, the last line counts the hidden ones", () => {
  const lines = tableLines(Array<FlareRow>(9).fill(sample), { ...FORM, height: 5 });
  expect([lines.length, lines.at(-1)]).toEqual([5, "and 6 more"]);
});

test("a missing or invalid value is a dash, not an error", () => {
  const odd = [null, 7, { token: 5 }, { recent_price_change: "9", token: { symbol: 1 }, liquidity: "0" }];
  const read = readFlares(view({ flares: { free: odd }, explanations: null }));
  expect([read.list, read.rows.length, readFlares(undefined).rows]).toEqual(["free", 2, []]);
  expect(tableLines(read.rows, FORM)[1]?.trim()).toMatch(/^(- +){5}-\/-$/);
});

test("[W41] the page names what is read of the past, while the data is live", () => {
  const part = { name: "bsc", state: "live", reason: "", observed_at: null, data_age_ms: 0 } as const;
  const filling = { read_ms: 41_000, of_ms: 90_000 };
  const freshness = { state: "live", reason: "", ageMs: 0, observedAt: null } as const;
  const page: TopPage = {
    ...{ host: "h", connection: { state: "live", transport: "sse", reason: "" }, cursor: undefined },
    freshness: { ...freshness, parts: [{ ...part, filling }] },
    ...{ flares: readFlares(undefined), started: 0, ended: 0, missed: 0 },
  };
  const form = { width: 80, height: 20, order: { by: "age", reversed: false }, paint: FORM.paint } as const;
  expect(pageLines(page, form)).toContain("reading the past: bsc: 41 of 90 s");
  expect(pageLines({ ...page, freshness }, form).join()).not.toContain("reading the past");
});

const hostile = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: fc.constantFrom("\u001B[2J", "\u202E", "狗", "❤\uFE0F", "🇩🇪", "א", "\n", "a\u0301") }),
  fc.constant("x".repeat(100_000)),
);
const anyNumber = fc.oneof(fc.double(), fc.integer());
const anyRow: fc.Arbitrary<FlareRow> = fc.record({
  symbol: hostile,
  startedAtMs: anyNumber,
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

test("[law] for any names, no line is too wide or moves the cursor, and there are never too many lines", () => {
  fc.assert(
    fc.property(
      fc.array(anyRow, { maxLength: 8 }),
      fc.record({ width: fc.integer({ min: 1, max: 150 }), height: fc.integer({ min: 0, max: 12 }) }),
      anyOrder,
      hostile,
      (rows, size, order, said) => {
        const page: TopPage = {
          host: said,
          connection: { state: "waiting", transport: "sse", reason: said },
          freshness: { state: "stale", reason: said, ageMs: 7, observedAt: said },
          cursor: said,
          flares: { list: "pro", rows, finished: 0 },
          ...{ started: 0, ended: 0, missed: null },
        };
        for (const lines of [
          tableLines(rows, { ...FORM, ...size, order }),
          pageLines(page, { ...size, order, paint: FORM.paint }),
        ]) {
          expect(lines.length).toBeLessThanOrEqual(Math.max(1, size.height));
          for (const line of lines) {
            expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
            expect(columns(line)).toBeLessThanOrEqual(size.width);
          }
        }
      },
    ),
    { numRuns: 60 },
  );
});

test("[law] an order loses no row, can be reversed, and puts unknown values last", () => {
  fc.assert(
    fc.property(fc.array(anyRow, { maxLength: 12 }), anyOrder, (rows, order) => {
      const sorted = sortRows(rows, order);
      expect(new Set(sorted)).toEqual(new Set(rows));
      if (order.by !== "change") return;
      const known = sorted.map(({ change }) => change).filter((change) => !Number.isNaN(change));
      expect(sorted.slice(0, known.length).map(({ change }) => change)).toEqual(known);
      const sign = order.reversed ? 1 : -1;
      for (let at = 1; at < known.length; at += 1)
        expect(sign * ((known[at] ?? 0) - (known[at - 1] ?? 0)) >= 0).toBe(true);
    }),
    { numRuns: 60 },
  );
});

test("each column of numbers sorts newest or largest first", () => {
  const low = { ...sample, symbol: "LOW" };
  const high: FlareRow = {
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
