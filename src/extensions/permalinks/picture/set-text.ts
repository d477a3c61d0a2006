import { safeText } from "../../../base/lib/text/safe-text.ts";
import { BOX, type Font } from "./font.ts";

/** Created at first use, because that takes 15 ms of CPU time. */
let graphemes: Intl.Segmenter | undefined;

/** Maximum characters of a sentence. More do not fit a picture. */
const MAX_SENTENCE = 400;

/** Returns an untrusted name with only characters that the font can draw. */
export function drawableName(text: string, font: Font): string {
  return drawable(safeText(text), font);
}

export function drawableSentence(text: string, font: Font): string {
  return drawable(text.slice(0, MAX_SENTENCE), font);
}

/**
 * Replaces each character that the font cannot draw with a box. Without the box, a name could look
 * like another name.
 */
function drawable(text: string, font: Font): string {
  let drawn = "";
  graphemes ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  for (const { segment } of graphemes.segment(text.normalize("NFC"))) {
    const [first = 0, ...others] = [...segment].map((character) => character.codePointAt(0) ?? 0);
    drawn += others.length === 0 && font.has(first) ? segment : BOX;
  }
  return drawn;
}

/** Returns the text. If it is wider than `width`, cuts it and adds an ellipsis. */
export function fitText(text: string, font: Font, size: number, width: number): string {
  if (font.widthOf(text, size) <= width) return text;
  const characters = [...text];
  while (characters.length > 0 && font.widthOf(`${characters.join("")}…`, size) > width) characters.pop();
  return `${characters.join("").trimEnd()}…`;
}

/**
 * Breaks the text between words into at most `rows`. The last ends with an ellipsis if there is
 * more.
 */
export function wrapText(
  text: string,
  font: Font,
  size: number,
  { width, rows }: { readonly width: number; readonly rows: number },
): readonly string[] {
  const wrapped: string[] = [];
  let row = "";
  for (const word of text.split(" ")) {
    const longer = row === "" ? word : `${row} ${word}`;
    if (font.widthOf(longer, size) <= width || row === "") row = longer;
    else if (wrapped.length === rows - 1) {
      // Cut between words only: part of a number would be a different number.
      while (row.includes(" ") && font.widthOf(`${row} …`, size) > width)
        row = row.slice(0, row.lastIndexOf(" "));
      return [...wrapped, fitText(`${row} …`, font, size, width)];
    } else {
      wrapped.push(fitText(row, font, size, width));
      row = word;
    }
  }
  return [...wrapped, fitText(row, font, size, width)];
}
