/** The parts of a TrueType font that are needed to set text. */
export interface Font {
  /** Returns whether the font can draw the character. */
  has(codePoint: number): boolean;
  /**
   * Returns the width of a text at this size. A character that the font lacks has the width of
   * {@link BOX}.
   */
  widthOf(text: string, size: number): number;
}

/** Stands for a character that the font does not have. */
export const BOX = "\u25a1";

/** Reads a TrueType font. Throws if it lacks a table or a `cmap` of format 4. */
export function readFont(bytes: Buffer): Font {
  const tables = new Map<string, number>();
  for (let at = 12, left = bytes.readUInt16BE(4); left > 0; at += 16, left -= 1)
    tables.set(bytes.toString("latin1", at, at + 4), bytes.readUInt32BE(at + 8));
  const start = (name: string): number => {
    const at = tables.get(name);
    if (at === undefined) throw new Error(`the font has no table ${name}`);
    return at;
  };
  const unitsPerEm = bytes.readUInt16BE(start("head") + 18);
  const measured = bytes.readUInt16BE(start("hhea") + 34);
  const glyphs = readGlyphs(bytes, start("cmap"));
  const box = glyphs.get(BOX.charCodeAt(0)) ?? 0;
  const advanceOf = (codePoint: number) => {
    const glyph = Math.min(glyphs.get(codePoint) ?? box, measured - 1);
    return bytes.readUInt16BE(start("hmtx") + 4 * glyph);
  };
  return {
    has: (codePoint) => glyphs.has(codePoint),
    widthOf: (text, size) => {
      let units = 0;
      for (const character of text) units += advanceOf(character.codePointAt(0) ?? 0);
      return (units * size) / unitsPerEm;
    },
  };
}

/** Sets text in a font, and what that lacks in another. */
export function withFallback(font: Font, fallback: Font): Font {
  const fontOf = (character: string) => {
    const codePoint = character.codePointAt(0) ?? 0;
    return font.has(codePoint) || !fallback.has(codePoint) ? font : fallback;
  };
  return {
    has: (codePoint) => font.has(codePoint) || fallback.has(codePoint),
    widthOf: (text, size) =>
      [...text].reduce((width, character) => width + fontOf(character).widthOf(character, size), 0),
  };
}

/** Maps code points to glyphs (OpenType, `cmap` format 4). */
function readGlyphs(bytes: Buffer, cmap: number): ReadonlyMap<number, number> {
  const offsets = Array.from({ length: bytes.readUInt16BE(cmap + 2) }, (_, at) =>
    bytes.readUInt32BE(cmap + 8 + 8 * at),
  );
  const table = offsets.map((offset) => cmap + offset).find((at) => bytes.readUInt16BE(at) === 4);
  if (table === undefined) throw new Error("the font has no cmap of format 4");
  const count = bytes.readUInt16BE(table + 6) / 2;
  const glyphs = new Map<number, number>();
  for (let segment = 0; segment < count; segment += 1) {
    const field = (index: number) => table + 14 + 2 * (index * count + segment) + (index > 0 ? 2 : 0);
    const [end, first] = [bytes.readUInt16BE(field(0)), bytes.readUInt16BE(field(1))];
    const delta = bytes.readUInt16BE(field(2));
    const range = bytes.readUInt16BE(field(3));
    for (let code = first; code <= end && code !== 0xffff; code += 1) {
      const at = range === 0 ? code : bytes.readUInt16BE(field(3) + range + 2 * (code - first));
      const glyph = at === 0 ? 0 : (at + delta) & 0xffff;
      if (glyph !== 0) glyphs.set(code, glyph);
    }
  }
  return glyphs;
}
