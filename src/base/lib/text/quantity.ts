/** Durations and sizes as people write and read them. */

const DURATION_UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const SIZE_UNITS = { B: 1, KiB: 1_024, MiB: 1_048_576, GiB: 1_073_741_824 } as const;

/** Returns the milliseconds of `500ms`, `10s`, `1.5m`, `8h`, `1d` or `0`; `undefined` otherwise. */
export function parseDuration(text: string): number | undefined {
  return parse(text, DURATION_UNITS);
}

/** Formats milliseconds in the largest unit that divides them: `90s`, `8h`, `0`. */
export function formatDuration(ms: number): string {
  return format(ms, DURATION_UNITS);
}

/** Returns the bytes of `512B`, `64KiB`, `1.5MiB`, `2GiB` or `0`; otherwise `undefined`. */
export function parseSize(text: string): number | undefined {
  return parse(text, SIZE_UNITS);
}

/** Formats bytes in the largest unit that divides them: `64MiB`. */
export function formatSize(bytes: number): string {
  return format(bytes, SIZE_UNITS);
}

function parse(text: string, units: Readonly<Record<string, number>>): number | undefined {
  if (text === "0") return 0;
  const [, digits, unit] = /^(\d{1,12}(?:\.\d{1,6})?) ?([A-Za-z]+)$/.exec(text) ?? [];
  const factor = unit !== undefined && Object.hasOwn(units, unit) ? units[unit] : undefined;
  if (digits === undefined || factor === undefined) return undefined;
  const number = Number(digits);
  // A decimal times a unit is rarely whole: 1.1 × 3,600,000 is 3,960,000.0000000005.
  const value = Math.round(number * factor);
  const isPartOfSmallest = !Number.isInteger(number) && (factor === 1 || value === 0);
  return Number.isSafeInteger(value) && !isPartOfSmallest ? value : undefined;
}

function format(value: number, units: Readonly<Record<string, number>>): string {
  if (value === 0) return "0";
  const fitting = Object.entries(units).filter(([, factor]) => value % factor === 0);
  const [unit, factor] = fitting.at(-1) ?? ["", 1];
  return `${value / factor}${unit}`;
}
