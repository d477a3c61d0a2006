import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parentPort } from "node:worker_threads";
import { initWasm, Resvg } from "@resvg/resvg-wasm";
import { readFont } from "./font.ts";
import { type ShareFacts, sharePicture } from "./share-picture.ts";

/*
 * The thread that draws pictures. For each message with facts, it sends one PNG image back, in
 * order.
 */

/** The same path from src and from dist. */
const fontBytes = (name: string) => readFileSync(new URL(`./fonts/${name}.ttf`, import.meta.url));

const [regular, bold] = [fontBytes("inter-regular"), fontBytes("inter-bold")];
const fonts = { regular: readFont(regular), bold: readFont(bold) };
const options = {
  font: { fontBuffers: [regular, bold], defaultFontFamily: "Inter", loadSystemFonts: false },
};
await initWasm(readFileSync(fileURLToPath(import.meta.resolve("@resvg/resvg-wasm/index_bg.wasm"))));

parentPort?.on("message", (facts: ShareFacts) => {
  const drawing = new Resvg(sharePicture(facts, fonts), options);
  const image = drawing.render();
  const png = image.asPng();
  image.free();
  drawing.free();
  parentPort?.postMessage(png);
});
