/** Maximum length of a decimal string that the engine computes itself. */
const MAX_CHARACTERS = 120;

/**
 * Formats a computed number as a plain decimal without trailing zeros, with `digits` significant
 * digits (default 10, at most 15, as a double has). `"0"` if it is not finite or too long. For
 * averages and sums; an echoed price keeps the feed's string.
 */
export function formatDecimal(value: number, digits = 10): string {
  if (!Number.isFinite(value) || value === 0) return "0";
  const [mantissa = "0", exponentText = "0"] = Math.abs(value)
    .toExponential(digits - 1)
    .split("e");
  const figures = mantissa.replace(".", "").replace(/0+$/, "");
  const point = Number(exponentText) + 1;
  if (Math.abs(point) > MAX_CHARACTERS - 20) return "0";
  return (value < 0 ? "-" : "") + insertPoint(figures, point);
}

function insertPoint(figures: string, point: number): string {
  if (point <= 0) return `0.${"0".repeat(-point)}${figures}`;
  if (point >= figures.length) return figures + "0".repeat(point - figures.length);
  return `${figures.slice(0, point)}.${figures.slice(point)}`;
}
