/** `+12 %`, `−3.4 %`: with its sign, the minus a real one. */
export function formatPct(pct: number, digits = 0): string {
  const text = Math.abs(pct).toFixed(digits);
  const sign = Number(text) === 0 ? "±" : pct > 0 ? "+" : "−";
  return `${sign}${text} %`;
}
