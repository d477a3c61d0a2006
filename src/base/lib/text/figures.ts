const COMPACT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
/** From here on the compact notation has no unit and grows by a digit with each power of ten. */
const MAX_LETTERED = 1e15;
/** Counts from here on are abbreviated. */
const MIN_COMPACT_COUNT = 100_000;
const priceFormat = (maximumSignificantDigits: number) =>
  new Intl.NumberFormat("en", { maximumSignificantDigits }).format;
const formatWhole = priceFormat(6);
const formatFraction = priceFormat(4);
/** Code of the subscript ₀. The subscripts ₁ to ₉ follow it. */
const BELOW = 0x2080;
/** Maximum length of a decimal string that the engine computes itself. */
const MAX_CHARACTERS = 120;

/** Formats a non-negative number in at most six characters: `12.3K`, `999.9T`, `1e+18`. */
export function formatCompact(value: number): string {
  return value < MAX_LETTERED ? COMPACT.format(value) : value.toExponential(0);
}

/** Formats non-negative US dollars: `$12.3K`; below 1,000 whole ones, such as `$988` or `<$1`. */
export function formatDollars(usd: number): string {
  if (usd > 0 && usd < 1) return "<$1";
  return `$${formatCompact(usd < 1_000 ? Math.round(usd) : usd)}`;
}

/** Formats US dollars like {@link formatDollars}; `–` if unknown, which the API sends as 0. */
export function formatUsd(decimal: string): string {
  const usd = Number(decimal);
  return usd > 0 && Number.isFinite(usd) ? formatDollars(usd) : "–";
}

/** Formats `41`, `99999` or `123.4K`: at most six characters. */
export function formatCount(count: number): string {
  return count < MIN_COMPACT_COUNT ? String(count) : formatCompact(count);
}

/** Formats a count with its noun: `1 flare` or `2 flares`. */
export function counted(count: number, noun: string, text = String(count)): string {
  return `${text} ${noun}${count === 1 ? "" : "s"}`;
}

/**
 * Formats a price: `0.001844`, `0.0₈3542` (eight zeros), `63,412.5`. An unknown price is sent as 0
 * and shown as `–`.
 */
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

/**
 * Formats a computed number as a plain decimal without trailing zeros, with `digits` significant
 * digits (default 10, at most 15, as a double has). `"0"` if it is not finite or too long. For
 * averages and sums; an echoed price keeps the feed's string.
 */
export function formatDecimal(value: number, digits = 10): string {
  if (!Number.isFinite(value) || value === 0) return "0";
  const [mantissa = "0", exponentText = "0"] = Math.abs(value)
    .toExponential(digits - 1)
    .split("e");
  const figures = mantissa.replace(".", "").replace(/0+$/, "");
  const point = Number(exponentText) + 1;
  if (Math.abs(point) > MAX_CHARACTERS - 20) return "0";
  return (value < 0 ? "-" : "") + insertPoint(figures, point);
}

function insertPoint(figures: string, point: number): string {
  if (point <= 0) return `0.${"0".repeat(-point)}${figures}`;
  if (point >= figures.length) return figures + "0".repeat(point - figures.length);
  return `${figures.slice(0, point)}.${figures.slice(point)}`;
}
