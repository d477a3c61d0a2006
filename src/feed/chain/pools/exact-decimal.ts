/** Significant figures of a price; what lies behind them is cut off. A double holds fifteen, so a reader loses nothing. */
export const PRICE_FIGURES = 18;

/** Figures behind the point of an amount in dollars; what lies behind them is cut off. */
export const USD_DECIMALS = 18;

/** 10^`power`, for 0 and above. */
export function powerOfTen(power: number): bigint {
  return 10n ** BigInt(power);
}

/** `units` × 10^−`decimals` as a plain decimal: exact, without zeros at its end. `units` must not be below zero. */
export function formatUnits(units: bigint, decimals: number): string {
  const figures = units.toString().padStart(decimals + 1, "0");
  const whole = figures.slice(0, figures.length - decimals);
  let end = figures.length;
  while (end > whole.length && figures.charCodeAt(end - 1) === 48) end -= 1;
  return end === whole.length ? whole : `${whole}.${figures.slice(whole.length, end)}`;
}

/** `numerator` / `denominator` as a plain decimal of at most {@link PRICE_FIGURES} significant figures, cut off behind them; `"0"` for zero. Both above zero. */
export function formatRatio(numerator: bigint, denominator: bigint): string {
  if (numerator === 0n) return "0";
  // The quotient has this many figures before the point, or one fewer.
  const whole = numerator.toString().length - denominator.toString().length + 1;
  const decimals = Math.max(0, PRICE_FIGURES - whole + 1);
  const scaled = (numerator * powerOfTen(decimals)) / denominator;
  const surplus = Math.max(0, scaled.toString().length - PRICE_FIGURES);
  if (surplus <= decimals) return formatUnits(scaled / powerOfTen(surplus), decimals - surplus);
  const scale = powerOfTen(surplus);
  return formatUnits((scaled / scale) * scale, decimals);
}
