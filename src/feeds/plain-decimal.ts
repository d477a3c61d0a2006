/** Maximum length of an amount, as in the market events' schema. */
const MAX_AMOUNT_CHARS = 100;

const PLAIN = /^\d+(\.\d+)?$/;
const LOOSE = /^\+?(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,4}))?$/;

/**
 * Converts a number to a plain decimal without rounding, also from forms such as `1e-8`, `+2` and
 * `.5`. Returns `undefined` if the text is no number, is negative, or would have more than
 * `MAX_AMOUNT_CHARS` characters.
 */
export function plainDecimal(text: string): string | undefined {
  if (PLAIN.test(text)) return text.length <= MAX_AMOUNT_CHARS ? text : undefined;
  const match = LOOSE.exec(text);
  if (!match) return undefined;
  const whole = match[1] ?? "";
  const fraction = match[2] ?? "";
  const digits = whole + fraction;
  if (digits === "") return undefined;
  const point = whole.length + Number(match[3] ?? 0);
  // Checked first, because an exponent of 9999 must not cost 9999 characters per field.
  if (Math.max(point, digits.length, digits.length - point) > 2 * MAX_AMOUNT_CHARS) return undefined;
  const padded = digits.padEnd(point, "0");
  const before = (point > 0 ? padded.slice(0, point) : "").replace(/^0+(?=\d)/, "") || "0";
  const after = point > 0 ? padded.slice(point) : "0".repeat(-point) + digits;
  const plain = after === "" ? before : `${before}.${after}`;
  return plain.length <= MAX_AMOUNT_CHARS ? plain : undefined;
}
