/** Maximum number of characters shown of untrusted text. */
const MAX_CHARACTERS = 48;

/**
 * Control, bidi, zero-width and tag characters, which affect text around them. Excludes the joiner
 * between two emoji, which makes them one.
 */
const HARMFUL = /(?!\u200d\p{ExtPict})[\p{Cc}\p{Cf}]|(?<!\p{ExtPict}.?)\u200d/gu;
/** Combining marks, which can pile up on one letter until they cover neighboring lines. */
const PILED = /(\p{M}{3})\p{M}+/gu;

/**
 * Makes untrusted text safe to display: at most 48 characters on one line, without effect on the
 * text around it. Returns `(no name)` if nothing remains.
 */
export function safeText(text: string): string {
  // Cut first, so that a huge name costs no more than a short one.
  const plain = text
    .slice(0, 4 * MAX_CHARACTERS)
    .replace(/\s+/g, " ")
    .replace(HARMFUL, "")
    .replace(PILED, "$1")
    .trim();
  const shown = [...plain];
  if (shown.length === 0) return "(no name)";
  return shown.length > MAX_CHARACTERS
    ? `${shown
        .slice(0, MAX_CHARACTERS - 1)
        .join("")
        .replace(HARMFUL, "")}…`
    : plain;
}

/**
 * Returns an untrusted link in normalized form; `undefined` unless it is an http or https URL of at
 * most 2,048 characters without a user name.
 */
export function safeLink(link: string | null | undefined): string | undefined {
  const url = typeof link === "string" && link.length <= 2_048 ? URL.parse(link) : null;
  return url && /^https?:$/.test(url.protocol) && url.username === "" ? url.href : undefined;
}
