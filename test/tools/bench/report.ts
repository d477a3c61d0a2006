/** One measured figure. */
export interface Row {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  /** The aim, in words. */
  readonly aim: string;
}

/** Returns the middle value; for an even number, the upper of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** Returns the rows as lines of text. */
export function formatRows(rows: readonly Row[]): string {
  return rows
    .map(({ what, value, unit, aim }) => `  ${what}: ${format(value)} ${unit}   (${aim})\n`)
    .join("");
}

function format(value: number): string {
  return value >= 1_000 ? Math.round(value).toLocaleString("en-US") : value.toPrecision(3);
}
