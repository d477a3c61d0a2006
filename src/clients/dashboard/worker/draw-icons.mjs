import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { initWasm, Resvg } from "@resvg/resvg-wasm";

/**
 * Icons of the installed page by file name: their size in pixels, and their margin as a share of
 * the mark.
 */
const ICONS = {
  "icon-192.png": { size: 192, margin: 0.08 },
  "icon-512.png": { size: 512, margin: 0.08 },
  // Systems cut their own shape out of this one, so only the inner 80 % is certain to be visible.
  "icon-maskable.png": { size: 512, margin: 0.22 },
};

let initialized;

/**
 * Returns a Vite plugin that draws the icons from the mark, so that the mark has a single source.
 */
export function drawIcons() {
  return {
    name: "draw-icons",
    async buildStart() {
      initialized ??= initWasm(
        readFileSync(fileURLToPath(import.meta.resolve("@resvg/resvg-wasm/index_bg.wasm"))),
      );
      await initialized;
      const mark = readFileSync(new URL("../flame.svg", import.meta.url), "utf8").replace(
        /<\/?svg[^>]*>/g,
        "",
      );
      for (const [fileName, icon] of Object.entries(ICONS))
        this.emitFile({ type: "asset", fileName, source: draw(mark, icon) });
    },
  };
}

function draw(mark, { size, margin }) {
  const from = -16 * margin;
  const side = 16 - 2 * from;
  const box = `x="${from}" y="${from}" width="${side}" height="${side}"`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${size}" height="${size}" viewBox="${from} ${from} ${side} ${side}"><rect ${box} fill="#0e1014"/>${mark}</svg>`;
  return new Resvg(svg).render().asPng();
}
