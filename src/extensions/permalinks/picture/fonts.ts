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
  const regular = bytesOf("inter-regular.ttf");
  const bold = bytesOf("inter-bold.ttf");
  const chinese = brotliDecompressSync(bytesOf("droid-sans-fallback.ttf.br"));
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
  return readFileSync(new URL(`./fonts/${name}`, import.meta.url));
}
