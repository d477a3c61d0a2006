import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect } from "vitest";
import { EventTimeMs, LATEST_AT_MS, type MarketEvent } from "../../../src/base/market/index.ts";
import { plainDecimal } from "../../../src/feeds/plain-decimal.ts";
import { MAX_PAIRS, PairRegistry } from "../../../src/feeds/replay/pair-registry.ts";
import { CandleCsvParser } from "../../../src/feeds/replay/read/candle-csv.ts";
import { LineSplitter, MAX_LINE_CHARS } from "../../../src/feeds/replay/read/line-splitter.ts";
import { DETAILED_PER_REASON, SKIP_REASONS, type SkipReason } from "../../../src/feeds/replay/read/skips.ts";
import { Timeline } from "../../../src/feeds/replay/timeline.ts";
import { IS_SOAK } from "../../support/law-runs.ts";
import { closes, HEADER, line, MINUTE, replay, T0, test } from "./replay-kit.ts";

const row = (fields: string) => `${T0 + MINUTE},BTC_AAA,${fields}`;
const at = (time: string) => `${time},BTC_AAA,1,2,0.5,1.5,10`;
/** Minutes of 40 days. */
const FAR = 40 * 24 * 60;
const GAP = 10 * FAR;
/** More events than a gap and its lines produce, because a gap has clocks for two days. */
const EVENTS_OF_GAP = 2 * 24 * 3_600 + 1_000;

function tradeAt(at: number) {
  const fields = { kind: "trade", group: "bsc", pool: "p", token: "t", side: "buy", price: "1" } as const;
  return { ...fields, at, amount: "1", quoteUsd: "1", trader: "w" };
}

/** Bad CSV lines: the reason, the line, and a part of its report. */
const BAD_LINES: readonly [SkipReason, string, string][] = [
  [
    "too-long",
    "9".repeat(MAX_LINE_CHARS + 1),
    `${MAX_LINE_CHARS + 1} characters (maximum ${MAX_LINE_CHARS})`,
  ],
  ["bad-columns", row("1,2,0.5,1.5"), "6 columns, expected 7"],
  ["bad-columns", row("1,2,0.5,1.5,10,7"), "8 columns"],
  ["bad-columns", "nonsense", "1 columns"],
  ["bad-time", at("yesterday"), '"yesterday"'],
  ["bad-time", at("1509836520"), "not a whole minute in milliseconds"],
  ["bad-time", at("1.5e12"), '"1.5e12"'],
  ["bad-time", at("-60000"), '"-60000"'],
  ["bad-time", at("999999999960000"), '"999999999960000"'],
  ["bad-pair", `${T0 + MINUTE},,1,2,0.5,1.5,10`, 'pair ""'],
  ["bad-pair", `${T0 + MINUTE},${"A".repeat(129)},1,2,0.5,1.5,10`, "1 to 128 characters"],
  ["bad-pair", `${T0 + MINUTE},A\u0007B,1,2,0.5,1.5,10`, "without control characters"],
  ["bad-number", row("1,2,0.5,abc,10"), 'close "abc"'],
  ["bad-number", row("1,2,0.5,NaN,10"), 'close "NaN"'],
  ["bad-number", row("1,Infinity,0.5,1.5,10"), 'high "Infinity"'],
  ["bad-number", row("1,2,0.5,1.5,"), 'volume ""'],
  ["bad-number", row("1,2,0.5,1.5,1e300"), 'volume "1e300"'],
  ["bad-number", row("0x1,2,0.5,1.5,10"), 'open "0x1"'],
  ["negative", row("1,2,-0.5,1.5,10"), 'low "-0.5" is negative'],
  ["negative", row("1,2,0.5,1.5,-1e-3"), 'volume "-1e-3"'],
  ["impossible", row("1,2,0,1.5,10"), "low 0"],
  ["impossible", row("1,1.2,0.5,1.5,10"), "high 1.2"],
  ["impossible", row("1,2,1.1,1.5,10"), "low 1.1"],
  ["duplicate", line(0), `BTC_AAA already has a candle for ${T0}`],
  ["late", line(-1), "is 60000 ms before the latest event (maximum 5000)"],
  ["ahead", line(FAR), "after the latest event (maximum 2678400000)"],
];

describe("unusable lines", () => {
  test.for(BAD_LINES)(
    "a %s line is skipped, counted and reported; the rest continues",
    async ([reason, bad, part], { expect, write }) => {
      const { events, skipped, totals, error } = await replay(write([HEADER, line(0), bad, line(2)]));
      expect(error).toBeUndefined();
      expect(closes(events)).toEqual([1, 3]);
      expect(totals).toEqual({ [reason]: 1 });
      expect(skipped).toEqual([[reason, 3, expect.stringContaining(part)]]);
    },
  );

  test("invalid market events are skipped with the field and the reason", async ({ write }) => {
    const trade = {
      kind: "trade",
      at: T0,
      group: "bsc",
      pool: "p",
      token: "t",
      side: "buy",
      price: "1",
      amount: "1",
      quoteUsd: "1",
      trader: "w",
    };
    const candle = {
      kind: "candle",
      at: T0,
      group: "bsc",
      token: "t",
      openAt: T0 - MINUTE,
      open: "1",
      high: "1",
      low: "1",
      close: "1",
      volume: "0",
    };
    const lines = [
      trade,
      { ...trade, price: 0.5 },
      { ...trade, price: "1e-8" },
      { ...trade, side: "hold" },
      { ...trade, at: T0 - 5_001 },
      { ...trade, at: T0 - 5_000, trader: "in time" },
      { ...candle, openAt: T0 },
      { kind: "gossip", at: T0 },
      candle,
    ].map((event) => JSON.stringify(event));
    const { events, skipped } = await replay(write([...lines, "{", "[]", "null"]));
    expect(events.filter(({ kind }) => kind !== "clock")).toEqual([
      trade,
      { ...trade, at: T0 - 5_000, trader: "in time" },
      candle,
    ]);
    expect(skipped).toEqual([
      ["bad-event", 2, expect.stringContaining("price 0.5: ")],
      ["bad-event", 3, expect.stringContaining('price "1e-8": ')],
      ["bad-event", 4, expect.stringContaining('side "hold": ')],
      ["late", 5, expect.stringContaining("5001 ms before")],
      ["bad-event", 7, expect.stringContaining("must be at least openAt + 60000")],
      ["bad-event", 8, expect.stringContaining('kind "gossip": ')],
      ["bad-json", 10, expect.any(String)],
      ["bad-event", 12, "7 in total: the line is JSON, but not a market event"],
    ]);
  });

  test("a reason is reported a bounded number of times, however many lines are invalid", async ({
    write,
  }) => {
    const bad = Array.from({ length: 1_000 }, () => "x");
    const { skipped, totals } = await replay(write([HEADER, ...bad, line(0)]));
    expect(skipped.length).toBe(DETAILED_PER_REASON + 1);
    expect(skipped.at(-1)).toEqual(["bad-columns", 1_001, `1000 in total: ${SKIP_REASONS["bad-columns"]}`]);
    expect(totals).toEqual({ "bad-columns": 1_000 });
  });

  test("no line after a gap of more than 31 days is lost, in candle files and event files", async ({
    write,
  }) => {
    const again = IS_SOAK ? [2 * FAR, 2 * FAR + 1] : [];
    const minutes = [0, 1, FAR, FAR + 1, FAR + 2, ...again];
    const { events, totals } = await replay(write([HEADER, ...minutes.map((minute) => line(minute))]));
    expect(closes(events)).toEqual(minutes.map((minute) => minute + 1));
    expect(totals).toEqual({});
    const clocks = events.flatMap(({ kind, at }) => (kind === "clock" ? [at] : []));
    expect(clocks.findIndex((at, index) => at < (clocks[index - 1] ?? at))).toBe(-1);
    expect(clocks.length).toBeLessThan(400_000);
    const trades = [0, 1, FAR, FAR + 1].map((minute) => tradeAt(T0 + minute * MINUTE));
    const reported = await replay(write(trades.map((trade) => JSON.stringify(trade))));
    expect(reported.events.filter(({ kind }) => kind !== "clock")).toEqual(trades);
  });

  test("only lines with wrong times are skipped, even if several are alike, increasing, or after a gap", async ({
    write,
  }) => {
    const alike = ["A", "B", "C", "D"].map((pair) => line(FAR, pair));
    const far = [line(2 * FAR), line(3 * FAR, "BTC_BBB")];
    const good = [2, GAP, GAP + 1, GAP + 2].map((minute) => line(minute));
    const lines = [line(0), ...alike, line(1), ...far, ...good, line(GAP + FAR), line(GAP + 3)];
    const { events, totals } = await replay(write([HEADER, ...lines]));
    expect(closes(events)).toEqual([1, 2, 3, GAP + 1, GAP + 2, GAP + 3, GAP + 4]);
    expect(totals).toEqual({ ahead: 7 });
  });

  test("[L4] later laps repeat a gap like the first one", async ({ write }) => {
    // Whole days, so that the next lap begins a minute later.
    const minutes = [0, 1, FAR - 3, FAR - 2, FAR - 1];
    const lines = minutes.map((minute) => line(minute));
    const { events } = await replay(write([HEADER, ...lines]), { loop: true }, 2 * EVENTS_OF_GAP);
    const steps = closes(events).map((minute, index, all) => minute - (all[index - 1] ?? minute));
    expect(steps.slice(1, 5)).toEqual([1, FAR - 4, 1, 1]);
    expect(steps.slice(6, 10)).toEqual([1, FAR - 4, 1, 1]);
  });

  test("pairs beyond the maximum are skipped", () => {
    const [pairs, events] = [new PairRegistry("exchange", new Map()), [] as MarketEvent[]];
    const parser = new CandleCsvParser(pairs, new Timeline(), new Map());
    for (let pair = 0; pair < MAX_PAIRS; pair += 1) pairs.get(`P${pair}`);
    for (const name of [`P${MAX_PAIRS}`, `P${MAX_PAIRS + 1}`])
      expect(parser.parse(line(0, name), 0, events)).toMatchObject({
        reason: "too-many-pairs",
        detail: expect.stringContaining(name),
      });
    expect([parser.parse(line(1, "P0"), 0, events), closes(events)]).toEqual([undefined, [2]]);
  });

  test.runIf(IS_SOAK)("pairs of a recording beyond the maximum are skipped", async ({ write }) => {
    const lines = Array.from({ length: MAX_PAIRS + 2 }, (_, index) => line(0, `P${index}`));
    const { totals, skipped, events } = await replay(write([...lines, line(1, "P0")]));
    expect(totals).toEqual({ "too-many-pairs": 2 });
    expect(skipped[0]).toEqual(["too-many-pairs", MAX_PAIRS + 1, expect.stringContaining(`P${MAX_PAIRS}`)]);
    expect(closes(events).length).toBe(MAX_PAIRS + 1);
  });

  test("the document's table of reasons equals the code's", () => {
    const text = readFileSync(new URL("../../../src/feeds/RECORDING.md", import.meta.url), "utf8");
    const table = text.split("## What is skipped")[1]?.split("## ")[0] ?? "";
    const rows = [...table.matchAll(/^\| `([a-z-]+)` \| (.+) \|$/gm)].map(([, reason, meaning]) => [
      reason,
      meaning,
    ]);
    expect(Object.fromEntries(rows)).toEqual(SKIP_REASONS);
  });

  test("the maximum event time equals the schema's", () => {
    expect(EventTimeMs.safeParse(LATEST_AT_MS).success).toBe(true);
    expect(EventTimeMs.safeParse(LATEST_AT_MS + 1).success).toBe(false);
  });
});

describe("amounts", () => {
  test("plain decimals stay unchanged, other forms are written out exactly", () => {
    const forms = {
      "0.0000054": "0.0000054",
      "007.50": "007.50",
      "1e-8": "0.00000001",
      "1.25E+2": "125",
      "12.5e-1": "1.25",
      ".5": "0.5",
      "5.": "5",
      "+3": "3",
      "0e5": "0",
      "1.50e1": "15.0",
    };
    for (const [text, plain] of Object.entries(forms)) expect(plainDecimal(text), text).toBe(plain);
    for (const text of [
      "",
      ".",
      "e5",
      "1e",
      "1e99999",
      "-1",
      "1 ",
      "1,5",
      "١",
      "1_000",
      `1${"0".repeat(100)}`,
    ]) {
      expect(plainDecimal(text), text).toBeUndefined();
    }
  });

  test("an exponent form has exactly the value of its digits", () => {
    const digits = fc.stringMatching(/^\d{1,20}$/);
    fc.assert(
      fc.property(
        digits,
        fc.stringMatching(/^\d{0,20}$/),
        fc.integer({ min: -30, max: 30 }),
        (whole, fraction, exponent) => {
          const plain = plainDecimal(`${whole}.${fraction}e${exponent}`) ?? "none";
          const [before = "", after = ""] = plain.split(".");
          // Both sides scaled by 10^60, as whole numbers.
          const expected = BigInt(whole + fraction) * 10n ** BigInt(60 - fraction.length + exponent);
          expect(BigInt(before + after) * 10n ** BigInt(60 - after.length)).toBe(expected);
        },
      ),
    );
  });
});

describe("lines", () => {
  test("lines do not depend on how the bytes are split into chunks", () => {
    const text = fc
      .array(fc.stringMatching(/^[aé🔥\r]{0,5}$/u), { maxLength: 20 })
      .map((parts) => parts.join("\n"));
    fc.assert(
      fc.property(text, fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 }), (content, sizes) => {
        const bytes = Buffer.from(content);
        const splitter = new LineSplitter();
        const lines: unknown[] = [];
        for (let from = 0, turn = 0; from < bytes.length; turn += 1) {
          const size = sizes[turn % sizes.length] ?? 1;
          lines.push(...splitter.push(bytes.subarray(from, from + size)));
          from += size;
        }
        lines.push(...splitter.finish());
        const expected = content.split("\n").map((part) => part.replace(/\r$/, ""));
        // An empty last part is not a line.
        expect(lines).toEqual(content.endsWith("\n") || content === "" ? expected.slice(0, -1) : expected);
      }),
    );
  });

  test("a line that is too long uses no memory and is reported with its length", () => {
    const splitter = new LineSplitter();
    const chunk = Buffer.alloc(1_000_000, "x");
    for (let count = 0; count < 50; count += 1) expect(splitter.push(chunk)).toEqual([]);
    expect(splitter.push(Buffer.from("x\nshort\n"))).toEqual([{ chars: 50_000_001 }, "short"]);
    expect(splitter.push(Buffer.from(`${"y".repeat(MAX_LINE_CHARS)}\n`))).toEqual([
      "y".repeat(MAX_LINE_CHARS),
    ]);
  });
});
