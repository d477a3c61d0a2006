import { formatCompact } from "../../lib/text/format-compact.ts";
import { formatPct } from "../../lib/text/format-pct.ts";
import { formatPrice } from "../../lib/text/format-price.ts";

const VALUE_TEXTS: Readonly<Record<string, (value: unknown) => string>> = {
  recent_price_change: (value) => `${formatPct(Number(value))} in 5 min`,
  previous_price_change: (value) => `${formatPct(Number(value))} before`,
  latest_buy_count: (value) => `${formatCompact(Number(value))} buys`,
  latest_sell_count: (value) => `${formatCompact(Number(value))} sells`,
  // The API sends 0 for what is not known.
  liquidity: (value) =>
    Number(value) > 0 ? `$${formatCompact(Number(value))} liquidity` : "liquidity unknown",
  token: (value) =>
    typeof value === "object" && value !== null && "price" in value
      ? `price ${formatPrice(String(value.price))}`
      : "token",
};

/** Describes an update's new values of fields: `+16 % in 5 min, 61 buys, $25.8K liquidity`. */
export function valuesText(set: Readonly<Record<string, unknown>>): string {
  return Object.entries(set)
    .map(([field, value]) => VALUE_TEXTS[field]?.(value) ?? field.replaceAll("_", " "))
    .join(", ");
}
