const MOST = 1e20;

/** A number of at least 0 as a plain decimal with so many significant digits, never with an exponent; at most 10^20, at most 60 decimals. */
export function decimal(value: number, significant = 9): string {
  if (!(value > 0)) return "0";
  const capped = Math.min(value, MOST);
  const decimals = significant - 1 - Math.floor(Math.log10(capped));
  return capped.toFixed(Math.max(0, Math.min(60, decimals)));
}

/** Dollars as a plain decimal with four decimals. */
export function dollars(value: number): string {
  return Math.max(0, Math.min(value, MOST)).toFixed(4);
}
