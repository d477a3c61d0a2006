import { expect, test } from "vitest";
import type { FlareRow } from "../../../../src/app/cli/top/flare-row.ts";
import { pageLines, rowsOf, type TopPage } from "../../../../src/app/cli/top/top-page.ts";
import { INITIAL_STATE, settle, stateAfter } from "../../../../src/app/cli/top/top-state.ts";
import { SAMPLE_OUTCOME } from "../../../support/world/samples.ts";

const NOW = "2026-11-23T00:40:00.000Z";
const paint = (_style: string, text: string) => text;
const rowOf = (symbol: string, startedMin: number): FlareRow => ({
  id: symbol,
  symbol,
  name: `${symbol} Token`,
  address: `0x${symbol}`,
  exchange: "",
  price: "0.5",
  pricedAtMs: Date.parse(NOW),
  why: "21 times the usual buyers, buys outweigh sells at least 1.1:1, price 16 % above normal",
  startedAtMs: Date.parse(NOW) - startedMin * 60_000,
  endedAtMs: Number.NaN,
  outcome: undefined,
  change: 14,
  buys: 54,
  sells: 23,
  liquidityUsd: 186_000,
  score: 3.04,
  threshold: 1.85,
  warnings: [],
});
const ROWS = Array.from({ length: 20 }, (_, at) => rowOf(`T${at}.`, at + 1));
const ended = (row: FlareRow): FlareRow => ({
  ...row,
  endedAtMs: row.startedAtMs + 60_000,
  outcome: { ...SAMPLE_OUTCOME, peak_change: 35, ended_by: "canary" },
});
const PAGE: TopPage = {
  host: "127.0.0.1:8080",
  connection: { state: "live", transport: "websocket", reason: "" },
  freshness: { state: "live", reason: "", ageMs: 2_000, observedAt: NOW },
  cursor: "abcd-7",
  started: 4,
  ended: 2,
  missed: 0,
  flares: { group: "bsc", list: "pro", rows: ROWS, finished: [ended(rowOf("OVER", 9))] },
};
const SIZES = { small: [50, 15], usual: [80, 24], large: [120, 40] } as const;

/** Returns the screen of this size after these keys. */
function screenAfter(
  [width, height]: readonly [number, number],
  keys: readonly string[] = [],
  page = PAGE,
): readonly string[] {
  let state = INITIAL_STATE;
  const settled = () => {
    const shown = rowsOf(page, { width, height, state });
    state = settle(state, shown.rows, shown.lines);
    return shown;
  };
  for (const key of keys) {
    const { rows, lines } = settled();
    state = stateAfter(state, key, rows, Math.max(1, lines - 1));
  }
  settled();
  return pageLines(page, { width, height, state, paint });
}

test("at 80, 120 and 50 columns, the first line states whether events were missed, and the last one has the keys that fit", () => {
  const ends = (size: readonly [number, number]) => {
    const lines = screenAfter(size);
    expect(lines).toHaveLength(size[1]);
    return [lines[0], lines[1], lines.at(-1)];
  };
  expect(ends(SIZES.usual)).toEqual([
    "nothing missed, data live, 2 s old  live by websocket  127.0.0.1:8080",
    "20 flaring (pro)  0 with warnings  1 finished",
    "q quit  ? keys  / filter  Enter why  f finished  sorted by age",
  ]);
  expect(ends(SIZES.large)[1]).toBe(
    "20 flaring (pro)  0 with warnings  1 finished  4 started, 2 ended since the start",
  );
  expect(ends(SIZES.small)).toEqual([
    "nothing missed, data live, 2 s old",
    "20 flaring (pro)  0 with warnings  1 finished",
    "q quit  ? keys  / filter  Enter why  f finished",
  ]);
});

test("flares of the group exchange are counted under its name, found by exchange, and explained with their exchange", () => {
  const row = { ...rowOf("BTC/USDT", 1), address: "", exchange: "binance" };
  const page = {
    ...PAGE,
    flares: { ...PAGE.flares, group: "exchange" as const, rows: [row, rowOf("X", 2)] },
  };
  expect(screenAfter(SIZES.small, [], page)[1]).toBe("2 flaring (exchange, pro)  0 with warnings");
  const found = screenAfter(SIZES.usual, [..."/BINANCE", "\r", "\r"], page);
  expect(found[1]).toMatch(/^"BINANCE": 1 of 2 /);
  expect(found).toContain("binance");
});

test("at each size, Enter shows the selected flare's reason below the table; Enter again or Esc hides it", () => {
  for (const size of Object.values(SIZES)) {
    const text = screenAfter(size, ["j", "j", "\r"]).join("\n");
    expect(text).toMatch(/^> {3}3 min .*T2\. *$/m);
    expect(text).toMatch(/^T2\. {2}T2\. Token\n21 times the usual buyers/m);
    for (const closing of ["\r", "\u001B"])
      expect(screenAfter(size, ["\r", closing]).join()).not.toContain("21 times");
  }
});

test("/ filters by symbol or address while typing, Enter keeps the filter, Esc shows all", () => {
  const typing = screenAfter(SIZES.usual, [..."/t1q"]);
  expect(typing[1]).toMatch(/^"t1q": 0 of 20 /);
  expect(typing.at(-1)).toBe("/t1q_  Enter keep  Esc all");
  expect(typing).toContain("no flare matches the filter");
  const kept = screenAfter(SIZES.usual, [..."/0xT1q", "\u007F", "\r", "c"]);
  expect(kept[1]).toMatch(/^"0xT1": 11 of 20 /);
  expect(kept.at(-1)).toMatch(/sorted by change$/);
  expect(screenAfter(SIZES.usual, [..."/t1", "\r", "\u001B"])[1]).toMatch(/^20 flaring/);
});

test("f shows the finished flares with their outcomes; f again shows the current flares", () => {
  for (const size of Object.values(SIZES)) {
    const lines = screenAfter(size, ["f", "\r"]);
    expect(lines.join("\n")).toMatch(/peak .*end .*ended by {10}symbol[\s\S]*\+35 % .*possible rug {6}OVER/);
    expect(lines.join("\n")).toContain("+35 % peak");
    expect(screenAfter(size, ["f", "f"])).toEqual(screenAfter(size));
  }
});

test("? shows the keys on the smallest screen without cutting a line, and another key closes it", () => {
  const help = screenAfter(SIZES.small, ["?"]);
  expect(help).toHaveLength(15);
  expect(help.join("\n")).not.toContain("…");
  for (const key of ["Enter", "/", "f", "Home End", "a age", "w warnings", "Ctrl-Z", "q quit"])
    expect(help.slice(4, -1).join("\n")).toContain(key);
  expect(screenAfter(SIZES.small, ["?", "c"])).toEqual(screenAfter(SIZES.small));
});

test("a selected flare stays selected when others arrive; when it leaves, its row stays selected", () => {
  const state = stateAfter(stateAfter(INITIAL_STATE, "j", ROWS, 5), "j", ROWS, 5);
  expect(state.selected).toBe("T2.");
  expect(settle(state, [rowOf("NEW", 0), ...ROWS], 10).at).toBe(3);
  expect(
    settle(
      state,
      ROWS.filter(({ id }) => id !== "T2."),
      10,
    ).at,
  ).toBe(2);
  expect(settle(state, [], 10)).toMatchObject({ at: 0, first: 0 });
  const reading = stateAfter(INITIAL_STATE, "\r", ROWS, 5);
  expect(settle(reading, [rowOf("NEW", 0), ...ROWS], 10).at).toBe(1);
  // Without a selection, the cursor stays on the first row, whichever flare is there.
  expect(settle(INITIAL_STATE, [rowOf("NEW", 0), ...ROWS], 10).at).toBe(0);
});

test("before the first data, top shows the whole reason instead of an empty table", () => {
  const page: TopPage = {
    ...PAGE,
    connection: {
      state: "waiting",
      transport: "websocket",
      code: 503,
      reason: "HTTP 503 no data yet: the market has no data yet; bsc has no data yet: no network",
    },
    freshness: undefined,
    cursor: undefined,
    flares: { ...PAGE.flares, rows: [], finished: [] },
  };
  const lines = screenAfter([40, 12], [], page);
  expect(lines).toHaveLength(12);
  expect(lines.filter((line) => line !== "").slice(0, -1)).toEqual([
    "nothing missed, no data yet",
    "waiting for the server: no data yet: the",
    "market has no data yet; bsc has no data",
    "yet: no network",
  ]);
});
