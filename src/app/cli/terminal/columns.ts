import { columns } from "./plain-text.ts";

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
