import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parentPort } from "node:worker_threads";
import { initWasm, Resvg } from "@resvg/resvg-wasm";
import { readFonts } from "./fonts.ts";
import { type ShareFacts, sharePicture } from "./share-picture.ts";

/*
 * The thread that draws pictures. For each message with facts, it sends one PNG image back, in
 * order.
 */

const { fonts, fontBuffers } = readFonts();
const options = { font: { fontBuffers, defaultFontFamily: "Inter", loadSystemFonts: false } };
await initWasm(readFileSync(fileURLToPath(import.meta.resolve("@resvg/resvg-wasm/index_bg.wasm"))));

parentPort?.on("message", (facts: ShareFacts) => {
  const drawing = new Resvg(sharePicture(facts, fonts), options);
  const image = drawing.render();
  const png = image.asPng();
  image.free();
  drawing.free();
  parentPort?.postMessage(png);
});
