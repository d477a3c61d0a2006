/*
 * Names and symbols of tokens come from strangers. What reaches a terminal holds no character that moves its cursor, changes
 * its colours, reverses its direction or hides: escape sequences, C0 and C1 controls, bidi marks, zero-width characters.
 */

/** At most `width` columns of `text`, safe to print; cut text ends in `…`. What cannot be shown becomes `�`. */
export function plainText(text: string, width = 200): string {
  // A long run of combining marks climbs over the neighbouring lines. Cut first: a name of a million characters costs no more than a long one.
  const shown = text
    .slice(0, width * 4)
    .replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "\uFFFD")
    .replace(/(\p{M}{2})\p{M}+/gu, "$1");
  return columns(shown) <= width ? shown : `${cut(shown, width - 1)}…`;
}

/** `text` filled with spaces up to `width` columns; one that is longer stays. */
export function padColumns(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - columns(text)));
}

/** JSON text in which every character that a terminal could obey is written as `\uXXXX`: the same value, harmless to look at. */
export function plainJson(value: unknown): string {
  return JSON.stringify(value).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) =>
    [...Array(character.length).keys()]
      .map((index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`)
      .join(""),
  );
}

const WIDE =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\u3000-\u303E\uFF01-\uFF60]/u;

/** Columns that `text` takes on a terminal: two for East Asian and emoji characters, none for combining marks. */
export function columns(text: string): number {
  let width = 0;
  for (const character of text) width += columnsOf(character);
  return width;
}

function columnsOf(character: string): number {
  if (/^\p{M}/u.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}

function cut(text: string, width: number): string {
  let kept = "";
  let left = width;
  for (const character of text) {
    left -= columnsOf(character);
    if (left < 0) break;
    kept += character;
  }
  return kept;
}
