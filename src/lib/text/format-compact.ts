/** Created at its first use: creating it at each start would take 15 ms of CPU time. */
let compact: Intl.NumberFormat | undefined;
/** From here on the compact notation has no unit and grows by a digit with each power of ten. */
const MAX_LETTERED = 1e15;

/** Formats a non-negative number in at most six characters: `12.3K`, `999.9T`, `1e+18`. */
export function formatCompact(value: number): string {
  if (value >= MAX_LETTERED) return value.toExponential(0);
  compact ??= new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
  return compact.format(value);
}
