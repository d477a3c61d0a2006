import { expect, test } from "vitest";
import {
  counted,
  formatCompact,
  formatCount,
  formatDecimal,
  formatDollars,
  formatPrice,
  formatUsd,
} from "../../../src/base/lib/text/figures.ts";
import {
  cssShare,
  formatChange,
  formatPct,
  formatShare,
  withWholeUnits,
} from "../../../src/base/lib/text/percent.ts";

/** What a number looks like on each side of each bound. */
const SHOWN: readonly (readonly [what: string, shown: string, expected: string])[] = [
  ["compact 0", formatCompact(0), "0"],
  ["compact 999", formatCompact(999), "999"],
  ["compact 1,000", formatCompact(1_000), "1K"],
  ["compact 12,345", formatCompact(12_345), "12.3K"],
  ["compact below 10^15", formatCompact(999_900_000_000_000), "999.9T"],
  ["compact 10^15", formatCompact(1e15), "1e+15"],
  ["compact 10^18", formatCompact(1.26e18), "1e+18"],
  ["dollars 0", formatDollars(0), "$0"],
  ["dollars a cent", formatDollars(0.01), "<$1"],
  ["dollars 0.999", formatDollars(0.999), "<$1"],
  ["dollars 1", formatDollars(1), "$1"],
  ["dollars 1.4", formatDollars(1.4), "$1"],
  ["dollars 988.5", formatDollars(988.5), "$989"],
  ["dollars 1,000", formatDollars(1_000), "$1K"],
  ["dollars 1,449", formatDollars(1_449), "$1.4K"],
  ["unknown dollars", formatUsd("0"), "–"],
  ["dollars that are no number", formatUsd("x"), "–"],
  ["negative dollars", formatUsd("-1"), "–"],
  ["endless dollars", formatUsd("1e400"), "–"],
  ["dollars of a decimal", formatUsd("12345.6"), "$12.3K"],
  ["count 0", formatCount(0), "0"],
  ["count 99,999", formatCount(99_999), "99999"],
  ["count 100,000", formatCount(100_000), "100K"],
  ["no flare", counted(0, "flare"), "0 flares"],
  ["one flare", counted(1, "flare"), "1 flare"],
  ["two flares", counted(2, "flare"), "2 flares"],
  ["flares by another text", counted(100_000, "flare", "100K"), "100K flares"],
  ["price of 0", formatPrice("0"), "–"],
  ["negative price", formatPrice("-1"), "–"],
  ["price that is no number", formatPrice("x"), "–"],
  ["price below a million", formatPrice("999999"), "999,999"],
  ["price of a million", formatPrice("1000000"), "1M"],
  ["price of 63,412.5", formatPrice("63412.54"), "63,412.5"],
  ["price of 1,000", formatPrice("1000.4"), "1,000.4"],
  ["price below 1,000", formatPrice("999.95"), "1,000"],
  ["price of 12.3456", formatPrice("12.3456"), "12.35"],
  ["four zeros after the point", formatPrice("0.00001844"), "0.00001844"],
  ["five zeros after the point", formatPrice("0.000001844"), "0.0₅1844"],
  ["ten zeros after the point", formatPrice("0.00000000001844"), "0.0₁₀1844"],
  ["a decimal without trailing zeros", formatDecimal(1_200), "1200"],
  ["a decimal of 15 digits", formatDecimal(1 / 3, 15), "0.333333333333333"],
  ["the longest decimal", formatDecimal(1e99), `1${"0".repeat(99)}`],
  ["a decimal that is too long", formatDecimal(1e100), "0"],
  ["the smallest decimal", formatDecimal(1e-101), `0.${"0".repeat(100)}1`],
  ["a decimal that is too small", formatDecimal(1e-102), "0"],
  ["no change", formatPct(0), "±0 %"],
  ["a change that rounds to nothing", formatPct(-0.4), "±0 %"],
  ["a change that is seen with decimals", formatPct(-0.4, 1), "−0.4 %"],
  ["a rise", formatPct(12.4), "+12 %"],
  ["a fall", formatPct(-3.44, 1), "−3.4 %"],
  ["a change below 10,000 %", formatPct(9_999), "+9999 %"],
  ["a change of 10,000 %", formatPct(10_000), "+10K %"],
  ["a fall of 12,345 %", formatPct(-12_345), "−12.3K %"],
  ["an unknown change", formatChange(null), "–"],
  ["an absent change", formatChange(undefined), "–"],
  ["a change with one decimal", formatChange(1.25), "+1.3 %"],
  ["an unknown share", formatShare(null), "–"],
  ["a share", formatShare(0.126), "13 %"],
  ["a share of nothing", formatShare(0), "0 %"],
  ["a share with decimals", formatShare(0.1265, 1), "12.7 %"],
  ["a share without needless decimals", formatShare(0.5, 2), "50 %"],
  ["a share of a style", cssShare(0.125), "12.500%"],
];

test.each(SHOWN)("%s is shown as %s", (_, shown, expected) => {
  expect(shown).toBe(expected);
});

test("a number stays on one line with its unit, and with nothing else", () => {
  const whole = "−3 % in 12 min, 5 ms, 2 h and 1 day of 10K tokens; 3 minds, 4 MBit";
  expect(withWholeUnits(whole).replaceAll("\u00a0", "_")).toBe(
    "−3_% in 12_min, 5_ms, 2_h and 1_day of 10K tokens; 3 minds, 4 MBit",
  );
});
