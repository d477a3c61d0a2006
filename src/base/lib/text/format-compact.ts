const COMPACT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
/** From here on the compact notation has no unit and grows by a digit with each power of ten. */
const MAX_LETTERED = 1e15;
/** Counts from here on are abbreviated. */
const MIN_COMPACT_COUNT = 100_000;

/** Formats a non-negative number in at most six characters: `12.3K`, `999.9T`, `1e+18`. */
export function formatCompact(value: number): string {
  return value < MAX_LETTERED ? COMPACT.format(value) : value.toExponential(0);
}

/** Formats non-negative US dollars: `$12.3K`; below 1,000 whole ones, such as `$988` or `<$1`. */
export function formatDollars(usd: number): string {
  if (usd > 0 && usd < 1) return "<$1";
  return `$${formatCompact(usd < 1_000 ? Math.round(usd) : usd)}`;
}

/** Formats `41`, `99999` or `123.4K`: at most six characters. */
export function formatCount(count: number): string {
  return count < MIN_COMPACT_COUNT ? String(count) : formatCompact(count);
}

/** Formats a count with its noun: `1 flare` or `2 flares`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
