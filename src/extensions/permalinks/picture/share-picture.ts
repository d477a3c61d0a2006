import type { Candle } from "../../../base/model/index.ts";
import { type Html, html } from "../../pages/index.ts";
import { type FlareSpan, pricePaths } from "../price-picture.ts";
import type { Font } from "./font.ts";
import type { Fonts } from "./fonts.ts";
import { drawableName, drawableSentence, fitText, wrapText } from "./set-text.ts";

export type Look = "flaring" | "faded" | "canary" | "up" | "down" | "plain";

/** The facts that a picture shows. Their texts are untrusted. */
export interface ShareFacts {
  readonly symbol: string;
  readonly name: string;
  /** Whether letters of the symbol only look Latin. */
  readonly isMixed: boolean;
  readonly fate: readonly [look: Look, text: string];
  readonly sentence: string;
  readonly figures: readonly { readonly name: string; readonly value: string; readonly look: Look }[];
  readonly candles: readonly Pick<Candle, "open_at" | "close" | "volume">[];
  readonly spans: readonly FlareSpan[];
  /** The time, shown at the top right. */
  readonly note: string;
  /** Name of the kind of market, shown before `note`; `undefined` for a live one. */
  readonly market: string | undefined;
}

/** The size that link previews show uncropped (Open Graph). */
export const [PICTURE_WIDTH, PICTURE_HEIGHT] = [1_200, 630];
const EDGE = 56;
const INNER = PICTURE_WIDTH - 2 * EDGE;
const SYMBOL_SIZES = [92, 76, 60, 46];
const CHART = { width: INNER, priceHeight: 150, height: 190 };

/** The dark design tokens. */
const COLORS: Readonly<Record<Look, string>> = {
  flaring: "#ff9a3d",
  faded: "#39404d",
  canary: "#f0525a",
  up: "#3ddc84",
  down: "#ff6b6b",
  plain: "#eef0f4",
};
const [PAPER, INK, SOFT, WARN] = ["#0e1014", "#eef0f4", "#8d95a5", "#f5b83d"];
const FLAME =
  "M8 1c.6 3 4.5 4.6 4.5 8.6A4.5 4.5 0 0 1 8 14.5a4.5 4.5 0 0 1-4.5-4.9C3.5 7.500 5 6.5 5.300 4.800 6.5 5.400 7 6.400 7.1 7.300 8.200 5.900 8.5 3.500 8 1z";

/** Returns the picture as SVG without external references. */
export function sharePicture(facts: ShareFacts, { regular, bold }: Fonts): string {
  const { fate, note, market, figures, candles, spans } = facts;
  const [look, fateName] = fate;
  const pill = bold.widthOf(fateName, 26) + 36;
  const symbol = drawableName(facts.symbol, bold);
  const size = SYMBOL_SIZES.find((one) => bold.widthOf(symbol, one) <= INNER - 100) ?? 46;
  const shownSymbol = fitText(symbol, bold, size, INNER - 100);
  const nameX = EDGE + bold.widthOf(shownSymbol, size) + (facts.isMixed ? 76 : 24);
  const room = PICTURE_WIDTH - EDGE - nameX;
  const name = room < 160 ? "" : fitText(drawableName(facts.name, regular), regular, 34, room);
  const [textSize, step, rows] = rowsOf(drawableSentence(facts.sentence, regular), regular);
  const chart = pricePaths(candles, spans, CHART);
  const notes = market === undefined ? note : `${market} · ${note}`;
  const column = INNER / Math.max(4, figures.length);
  return html`<svg xmlns="http://www.w3.org/2000/svg" width="${PICTURE_WIDTH}" height="${PICTURE_HEIGHT}" viewBox="0 0 ${PICTURE_WIDTH} ${PICTURE_HEIGHT}" font-family="Inter" font-weight="400" fill="${INK}">
<style>.shade{fill:${COLORS.flaring};opacity:.2}.volume{stroke:${SOFT};opacity:.6}.price{fill:none;stroke:${INK};stroke-width:4;stroke-linejoin:round}.mark{fill:${INK}}</style>
<rect width="100%" height="100%" fill="${PAPER}"/>
<rect width="100%" height="8" fill="${COLORS[look]}"/>
<path transform="translate(${EDGE - 12} 32) scale(3)" fill="${COLORS.flaring}" d="${FLAME}"/>
${textHtml(EDGE + 40, 68, 30, "Flarewire", { weight: 700 })}
${textHtml(PICTURE_WIDTH - EDGE, 66, 24, notes, { color: market === undefined ? SOFT : WARN, anchor: "end" })}
<rect x="${EDGE}" y="102" width="${pill}" height="44" rx="22" fill="${COLORS[look]}"/>
${textHtml(EDGE + 18, 133, 26, fateName, { weight: 700, color: look === "faded" ? INK : PAPER })}
${textHtml(EDGE, 232, size, shownSymbol, { weight: 700 })}
${facts.isMixed ? mixedHtml(nameX - 60, 232) : html``}
${textHtml(nameX, 232, 34, name, { color: SOFT })}
${rows.map((row, at) => textHtml(EDGE, 286 + step * at, textSize, row))}
${figures.map(({ name: label, value, look: shade }, at) => {
  const x = EDGE + column * at;
  const y = chart ? 372 : 440;
  // Smaller instead of cut: part of a number would be a different number.
  const valueSize = Math.min(40, (40 * (column - 24)) / bold.widthOf(value, 40));
  return html`${textHtml(x, y, 22, label, { color: SOFT })}${textHtml(x, y + 44, Math.floor(valueSize), value, { weight: 700, color: COLORS[shade] })}\n`;
})}
${chart ? html`<g transform="translate(${EDGE} 432)">${chart}</g>` : html``}
</svg>`.markup;
}

/** Two large rows or three small ones: a warning comes last, and must not be cut. */
function rowsOf(
  sentence: string,
  font: Font,
): readonly [size: number, step: number, rows: readonly string[]] {
  const large = wrapText(sentence, font, 30, { width: INNER, rows: 2 });
  if (!large.at(-1)?.endsWith("…")) return [30, 40, large];
  return [25, 30, wrapText(sentence, font, 25, { width: INNER, rows: 3 })];
}

/** Marks a name with letters that only look Latin. */
function mixedHtml(x: number, baseline: number): Html {
  return html`<path transform="translate(${x} ${baseline - 38})" fill="none" stroke="${WARN}" stroke-width="4" stroke-linejoin="round" d="M20 2 38 36H2ZM20 14v10m0 3v4"/>`;
}

interface TextStyle {
  readonly weight?: 400 | 700;
  readonly color?: string;
  readonly anchor?: "start" | "end";
}

function textHtml(x: number, y: number, size: number, text: string, style: TextStyle = {}): Html {
  const { weight = 400, color = INK, anchor = "start" } = style;
  return html`<text x="${x.toFixed(1)}" y="${y}" font-size="${size}" font-weight="${weight}" fill="${color}" text-anchor="${anchor}">${text}</text>`;
}
