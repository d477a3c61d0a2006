import { columns } from "./plain-text.ts";

const COLUMN_UNITS = [
  [1e12, 1e12, "T"],
  [1e9, 1e9, "G"],
  [1e6, 1e6, "M"],
  [1e4, 1e3, "k"],
] as const;

/** Pads `text` with spaces to `width` columns. Longer text is not cut. */
export function padColumns(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - columns(text)));
}

/** Formats rows as lines, each column as wide as its longest cell. */
export function alignColumns(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

/** Formats `51.2k` with a decimal to align; below 10,000 in full, from 1e15 as a power of ten. */
export function formatInColumn(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e15) return value.toExponential(0);
  const [, divisor, unit] = COLUMN_UNITS.find(([min]) => size >= min) ?? [];
  if (divisor === undefined) return String(Math.round(value));
  return `${(value / divisor).toFixed(size / divisor < 99.95 ? 1 : 0)}${unit}`;
}

/** Formats `42 s`, `12 min`, `3.5 h` or `2.1 d`; `-` if unknown, `0 s` if negative. */
export function formatRoughSpan(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  if (!Number.isFinite(seconds)) return "-";
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${(seconds / 3_600).toFixed(1)} h`;
  const days = seconds / 86_400;
  return `${days.toFixed(days < 99.95 ? 1 : 0)} d`;
}
