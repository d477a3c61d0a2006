const MAX = 1e20;

/**
 * Formats a number as a plain decimal: no exponent, at least `significant` digits, but at most 60
 * decimals. Numbers are limited to [0, 10^20]; NaN becomes 0.
 */
export function decimal(value: number, significant = 9): string {
  if (!(value > 0)) return "0";
  const capped = Math.min(value, MAX);
  const decimals = significant - 1 - Math.floor(Math.log10(capped));
  return capped.toFixed(Math.max(0, Math.min(60, decimals)));
}

/** Formats dollars with four decimals, limited to [0, 10^20]. */
export function dollars(value: number): string {
  return Math.max(0, Math.min(value, MAX)).toFixed(4);
}
