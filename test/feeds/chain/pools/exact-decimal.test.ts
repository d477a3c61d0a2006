import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatRatio, formatUnits, PRICE_FIGURES } from "../../../../src/feeds/chain/pools/exact-decimal.ts";

const PLAIN = /^(0|[1-9]\d*)(\.\d*[1-9])?$/;

/** Returns a plain decimal as a fraction: its digits over a power of ten. */
function fraction(text: string): readonly [bigint, bigint] {
  const [whole = "", rest = ""] = text.split(".");
  return [BigInt(whole + rest), 10n ** BigInt(rest.length)];
}

describe("decimals from integers", () => {
  test("[exact] an amount is its units shifted by the decimals, without loss", () => {
    expect(formatUnits(1n, 18)).toBe("0.000000000000000001");
    expect(formatUnits(1_500_000n, 6)).toBe("1.5");
    expect(formatUnits(0n, 18)).toBe("0");
    expect(formatUnits(120n, 0)).toBe("120");
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 1n << 256n }), fc.nat(77), (units, decimals) => {
        const text = formatUnits(units, decimals);
        expect(text).toMatch(PLAIN);
        const [numerator, denominator] = fraction(text);
        expect(numerator * 10n ** BigInt(decimals)).toBe(units * denominator);
      }),
    );
  });

  test("[exact] a ratio is truncated: never above, and by less than one in the last digit", () => {
    expect(formatRatio(1n, 3n)).toBe("0.333333333333333333");
    expect(formatRatio(2n, 3n * 10n ** 20n)).toBe("0.00000000000000000000666666666666666666");
    expect(formatRatio(10n ** 30n + 7n, 1n)).toBe(`1${"0".repeat(30)}`);
    expect(formatRatio(1n, 8n)).toBe("0.125");
    expect(formatRatio(0n, 8n)).toBe("0");
    const positive = fc.oneof(fc.bigInt({ min: 1n, max: 1n << 250n }), fc.bigInt({ min: 1n, max: 1_000n }));
    fc.assert(
      fc.property(positive, positive, (numerator, denominator) => {
        const text = formatRatio(numerator, denominator);
        expect(text).toMatch(PLAIN);
        const [figures, scale] = fraction(text);
        const written = figures.toString().replace(/0+$/, "");
        expect(written.length).toBeLessThanOrEqual(PRICE_FIGURES);
        // value = figures / scale ≤ numerator / denominator < value × (1 + 10^(1 − PRICE_FIGURES))
        expect(figures * denominator <= numerator * scale).toBe(true);
        const bound = 10n ** BigInt(PRICE_FIGURES - 1);
        expect(numerator * scale * bound < figures * denominator * (bound + 1n)).toBe(true);
      }),
    );
  });
});
