import { withWholeUnits } from "../../../base/lib/text/percent.ts";

/*
 * Makes untrusted text safe to print: without escape sequences, controls, bidi marks and zero-width
 * characters.
 */

const MAX_WRAPPED = 4_000;

/** Returns at most `width` columns, safe to print. Cut text ends in `…`; `�` replaces unsafe. */
export function plainText(text: string, width = 200): string {
  // Runs of combining marks would cover neighboring lines. Cut first: names may be huge.
  const shown = text
    .slice(0, width * 4)
    .replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "\uFFFD")
    .replace(/(\p{M}{2})\p{M}+/gu, "$1");
  return columns(shown) <= width ? shown : `${cut(shown, width - 1)}…`;
}

/**
 * Breaks `text` between words into lines of at most `width` columns, safe to print. A number stays
 * with its unit. The first line has at most `first`. Text beyond `most` lines and words longer than
 * a line are cut and end in `…`.
 */
export function wrapText(
  text: string,
  width: number,
  { first = width, most = Infinity }: { readonly first?: number; readonly most?: number } = {},
): readonly string[] {
  const lines: string[] = [];
  const words = withWholeUnits(plainText(text, MAX_WRAPPED)).split(" ");
  for (const word of words.map((one) => one.replaceAll("\u00a0", " "))) {
    const longer = `${lines.at(-1)} ${word}`;
    if (lines.length > 0 && columns(longer) <= (lines.length === 1 ? first : width))
      lines.splice(-1, 1, longer);
    else lines.push(plainText(word, lines.length === 0 ? first : width));
  }
  if (lines.length <= most) return lines;
  return [...lines.slice(0, most - 1), `${cut(lines[most - 1] ?? "", width - 1)}…`];
}

/** Formats JSON with every unsafe character as `\uXXXX`: the same value, safe to print. */
export function plainJson(value: unknown): string {
  return escapeJson(JSON.stringify(value));
}

/** Like {@link plainJson}, for JSON text. */
export function escapeJson(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) =>
    [...Array(character.length).keys()]
      .map((index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`)
      .join(""),
  );
}

const WIDE =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\u3000-\u303E\uFF01-\uFF60]/u;

/** Returns the columns of `text`: 2 for East Asian and emoji, 0 for combining marks. */
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
  let result = "";
  let left = width;
  for (const character of text) {
    left -= columnsOf(character);
    if (left < 0) break;
    result += character;
  }
  return result;
}
