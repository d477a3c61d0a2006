import { counted, formatCount, formatDollars, formatPrice } from "../../base/lib/text/figures.ts";
import { formatPct } from "../../base/lib/text/percent.ts";

const countText = (count: number, noun: string) => counted(count, noun, formatCount(count));

const VALUE_TEXTS: ReadonlyMap<string, (value: number) => string> = new Map([
  ["recent_price_change", (value) => `${formatPct(value)} in 5 min`],
  ["previous_price_change", (value) => `${formatPct(value)} prior 5 min`],
  ["latest_buy_count", (value) => countText(value, "buy")],
  ["latest_sell_count", (value) => countText(value, "sell")],
  // The API sends 0 for what is not known.
  ["liquidity", (value) => (value > 0 ? `${formatDollars(value)} liquidity` : "liquidity unknown")],
]);

/**
 * Describes an update's new values of fields: `+16 % in 5 min, 61 buys, $25.8K liquidity`. A field
 * that is not known, or whose value is not of the expected type, gets its name only.
 */
export function valuesText(set: Readonly<Record<string, unknown>>): string {
  return Object.entries(set).map(valueText).join(", ");
}

function valueText([field, value]: readonly [string, unknown]): string {
  if (field === "token" && typeof value === "object" && value !== null && "price" in value)
    return typeof value.price === "string" ? `price ${formatPrice(value.price)}` : "token";
  const number = typeof value === "string" || typeof value === "number" ? Number(value) : Number.NaN;
  const text = VALUE_TEXTS.get(field);
  return text && Number.isFinite(number) ? text(number) : field.replaceAll("_", " ");
}
