import { assertNever } from "../../../base/lib/assert-never.ts";
import { formatCount } from "../../../base/lib/text/figures.ts";
import type { Term } from "../../../base/model/index.ts";

/** Formats the measurement of a term and its unit, such as `4.2` and `%`. */
export function formatMeasured({ name, raw }: Pick<Term, "name" | "raw">): readonly [string, unit: string] {
  const [value, unit] = measured(name, raw);
  return [withMinus(value), unit];
}

/** Replaces hyphens with minus signs, as `formatPct` writes them. */
export function withMinus(number: string): string {
  return number.replaceAll("-", "−");
}

function measured(name: Term["name"], raw: number): readonly [string, unit: string] {
  switch (name) {
    case "buyers":
      // Buyers from earlier minutes count in part, so the measurement may not be a whole number.
      return [`≈ ${formatCount(Math.round(raw))}`, "wallets"];
    case "price":
      return [(100 * Math.expm1(raw)).toFixed(1), "%"];
    case "volume":
      return [raw.toPrecision(3), "× usual"];
    case "flow":
      return [raw.toPrecision(3), "usual minutes"];
    case "rush":
      return [formatCount(Math.round(raw)), "buys at once"];
    case "imbalance":
      // A lower bound of the share of buys among trades, minus one half.
      return [`≥ ${(100 * Math.min(1, raw + 0.5)).toFixed(1)}`, "% buys"];
    default:
      return assertNever(name);
  }
}
