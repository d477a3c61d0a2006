/** Significant digits of a price; the rest is truncated. A double has only fifteen. */
export const PRICE_FIGURES = 18;

/** Decimals of a dollar amount; the rest is truncated. */
export const USD_DECIMALS = 18;

/** Returns 10^`power` for a non-negative `power`. */
export function powerOfTen(power: number): bigint {
  return 10n ** BigInt(power);
}

/** Returns the square root of a non-negative number, rounded down. */
export function squareRoot(square: bigint): bigint {
  if (square < 2n) return square;
  let root = 1n << BigInt((square.toString(2).length + 1) >> 1);
  for (let next = square; ; root = next) {
    next = (root + square / root) >> 1n;
    if (next >= root) return root;
  }
}

/** Formats a non-negative `units` × 10^−`decimals` as an exact decimal without trailing zeros. */
export function formatUnits(units: bigint, decimals: number): string {
  const figures = units.toString().padStart(decimals + 1, "0");
  const whole = figures.slice(0, figures.length - decimals);
  let end = figures.length;
  while (end > whole.length && figures.charCodeAt(end - 1) === 48) end -= 1;
  return end === whole.length ? whole : `${whole}.${figures.slice(whole.length, end)}`;
}

/**
 * Formats `numerator` / `denominator` as a plain decimal, truncated to {@link PRICE_FIGURES}
 * significant digits; `"0"` for zero. Both must not be negative.
 */
export function formatRatio(numerator: bigint, denominator: bigint): string {
  if (numerator === 0n) return "0";
  // The quotient has this many digits before the point, or one fewer.
  const whole = numerator.toString().length - denominator.toString().length + 1;
  const decimals = Math.max(0, PRICE_FIGURES - whole + 1);
  const scaled = (numerator * powerOfTen(decimals)) / denominator;
  const surplus = Math.max(0, scaled.toString().length - PRICE_FIGURES);
  if (surplus <= decimals) return formatUnits(scaled / powerOfTen(surplus), decimals - surplus);
  const scale = powerOfTen(surplus);
  return formatUnits((scaled / scale) * scale, decimals);
}
