import { formatCompact } from "./format-compact.ts";

const formatter = (maximumSignificantDigits: number) =>
  new Intl.NumberFormat("en", { maximumSignificantDigits }).format;
const formatWhole = formatter(6);
const formatFraction = formatter(4);
/** Code of the subscript ₀. The subscripts ₁ to ₉ follow it. */
const BELOW = 0x2080;

/** Formats a price: `0.001844`, `0.0₈3542` (eight zeros), `63,412.5`; `–` if unknown, sent as 0. */
export function formatPrice(decimal: string): string {
  const price = Number(decimal);
  if (!Number.isFinite(price) || price <= 0) return "–";
  if (price >= 1_000_000) return formatCompact(price);
  if (price >= 1_000) return formatWhole(price);
  // Nobody would count more than four zeros after the point.
  return formatFraction(price).replace(/(?<=^0\.0)0{4,}/, ({ length }) =>
    `${length + 1}`.replace(/\d/g, (digit) => String.fromCharCode(BELOW + Number(digit))),
  );
}
