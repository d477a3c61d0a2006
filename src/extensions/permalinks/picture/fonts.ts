import { readFileSync } from "node:fs";
import { brotliDecompressSync } from "node:zlib";
import { type Font, readFont, withFallback } from "./font.ts";

/** The fonts of the pictures, by weight. */
export interface Fonts {
  readonly regular: Font;
  readonly bold: Font;
}

/** Reads the fonts, and returns their bytes for the renderer too. Takes about 20 ms. */
export function readFonts(): { readonly fonts: Fonts; readonly fontBuffers: Buffer[] } {
  const regular = bytesOf("inter-regular");
  const bold = bytesOf("inter-bold");
  const chinese = bytesOf("droid-sans-fallback");
  const fallback = readFont(chinese);
  return {
    fonts: {
      regular: withFallback(readFont(regular), fallback),
      bold: withFallback(readFont(bold), fallback),
    },
    fontBuffers: [regular, bold, chinese],
  };
}

/** The same path from src and from dist. */
function bytesOf(name: string): Buffer {
  return brotliDecompressSync(readFileSync(new URL(`./fonts/${name}.ttf.br`, import.meta.url)));
}
