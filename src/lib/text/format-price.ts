import { formatCompact } from "./format-compact.ts";

const WHOLE = new Intl.NumberFormat("en", { maximumSignificantDigits: 6 });
const FRACTION = new Intl.NumberFormat("en", { maximumSignificantDigits: 4, maximumFractionDigits: 18 });
const BELOW = "₀₁₂₃₄₅₆₇₈₉";
/** Smaller prices show the number of their zeros, which nobody would count. */
const MIN_WRITTEN_OUT = 1e-5;

/** Formats a price: `0.001844`, `0.0₈3542` (eight zeros), `63,412.5`; `–` if unknown, sent as 0. */
export function formatPrice(decimal: string): string {
  const price = Number(decimal);
  if (!Number.isFinite(price) || price <= 0) return "–";
  if (price >= 1_000_000) return formatCompact(price);
  if (price >= 1_000) return WHOLE.format(price);
  if (price >= MIN_WRITTEN_OUT) return FRACTION.format(price);
  const [digits = "", exponent = ""] = price.toExponential(3).split("e-");
  const zeros = [...String(Number(exponent) - 1)].map((digit) => BELOW[Number(digit)]).join("");
  return `0.0${zeros}${digits.replace(".", "").replace(/0+$/, "")}`;
}
