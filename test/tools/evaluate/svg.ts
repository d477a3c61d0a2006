/*
 * Draws pictures of two panels over one time axis. Colors come from a style sheet that follows the
 * reader's light or dark scheme. Lines also differ by dash and label, so that nothing depends on
 * color alone.
 */

import { escapeHtml } from "../../../src/base/lib/text/escape-html.ts";

/** One line of a panel; `null` if the value is unknown. */
export interface Curve {
  readonly values: readonly (number | null)[];
  readonly name: "price" | "score";
}

/** A horizontal line across a panel, with its label. */
export interface Level {
  readonly value: number;
  readonly label: string;
}

/** A period of time. Positions are indices into the curves and are cut off at both ends. */
export interface Mark {
  readonly from: number;
  readonly to: number;
  readonly label: string;
  readonly kind: "truth" | "flare";
}

/**
 * The content of a picture. Index i of each curve is the minute `firstMinute` + i after the
 * episode's start.
 */
export interface Picture {
  readonly title: string;
  readonly note: string;
  readonly firstMinute: number;
  readonly price: Curve;
  readonly priceUnit: string;
  readonly score: Curve;
  readonly levels: readonly Level[];
  readonly marks: readonly Mark[];
}

const WIDTH = 860;
const LEFT = 62;
const RIGHT = 150;
const PRICE = { top: 92, height: 190 };
const SCORE = { top: 318, height: 150 };
const HEIGHT = 520;
const TICK_MINUTES = 15;

const STYLE = `
  :root { color-scheme: light dark; }
  svg { --ink:#1b1f24; --dim:#5b6470; --rule:#d5dae0; --paper:#ffffff; --price:#0b5cad; --score:#b2450e; --truth:#5b6470; --flare:#b2450e; }
  @media (prefers-color-scheme: dark) { svg { --ink:#e8ebef; --dim:#a3adb8; --rule:#39414b; --paper:#15191e; --price:#6db3ff; --score:#ff9e5e; --truth:#a3adb8; --flare:#ff9e5e; } }
  text { font: 12px system-ui, sans-serif; fill: var(--dim); }
  .title { font-size: 16px; font-weight: 600; fill: var(--ink); }
  .paper { fill: var(--paper); }
  .rule { stroke: var(--rule); stroke-width: 1; }
  .curve { fill: none; stroke-width: 1.8; stroke-linejoin: round; }
  .price { stroke: var(--price); } .score { stroke: var(--score); }
  .level { stroke: var(--ink); stroke-width: 1; stroke-dasharray: 6 4; }
  .truth { fill: var(--truth); fill-opacity: 0.13; }
  .flare { fill: var(--flare); fill-opacity: 0.13; }
  .edge { stroke: var(--flare); stroke-width: 1.4; stroke-dasharray: 2 3; }
  .ink { fill: var(--ink); }
  .halo { paint-order: stroke; stroke: var(--paper); stroke-width: 5px; }
`;

/** Returns the picture as a stand-alone SVG document. */
export function drawPicture(picture: Picture): string {
  const minutes = picture.price.values.length;
  const x = (index: number) => LEFT + (index / Math.max(1, minutes - 1)) * (WIDTH - LEFT - RIGHT);
  const prices = rangeOf(picture.price.values);
  const scores = { low: 0, high: 6 };
  const parts = [
    `<text class="title" x="${LEFT}" y="28">${escapeHtml(picture.title)}</text>`,
    `<text x="${LEFT}" y="48">${escapeHtml(picture.note)}</text>`,
    ...picture.marks.flatMap((mark) => drawMark(mark, minutes - 1, x)),
    ...drawAxis(PRICE, prices, picture.priceUnit),
    ...drawAxis(SCORE, scores, "score"),
    drawCurve(picture.price, PRICE, prices, x),
    drawCurve(picture.score, SCORE, scores, x),
    ...picture.levels.flatMap((level) => drawLevel(level, scores)),
    ...drawTime(picture.firstMinute, minutes, x),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escapeHtml(picture.title)}">
<style>${STYLE}</style>
<rect class="paper" width="${WIDTH}" height="${HEIGHT}"/>
${parts.join("\n")}
</svg>
`;
}

interface Panel {
  readonly top: number;
  readonly height: number;
}
interface Range {
  readonly low: number;
  readonly high: number;
}

function yOf(value: number, panel: Panel, { low, high }: Range): number {
  return panel.top + panel.height * (1 - (Math.min(high, Math.max(low, value)) - low) / (high - low));
}

function rangeOf(values: readonly (number | null)[]): Range {
  const known = values.filter((value) => value !== null);
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const room = Math.max((high - low) * 0.08, 0.2);
  return { low: low - room, high: high + room };
}

function drawCurve(curve: Curve, panel: Panel, range: Range, x: (index: number) => number): string {
  let pen = "M";
  const steps: string[] = [];
  for (const [index, value] of curve.values.entries()) {
    if (value === null) {
      pen = "M";
      continue;
    }
    steps.push(`${pen}${x(index).toFixed(1)} ${yOf(value, panel, range).toFixed(1)}`);
    pen = "L";
  }
  return `<path class="curve ${curve.name}" d="${steps.join("")}"/>`;
}

function drawAxis(panel: Panel, range: Range, unit: string): readonly string[] {
  const step = niceStep((range.high - range.low) / 4);
  const lines: string[] = [`<text x="${LEFT - 50}" y="${panel.top - 8}">${escapeHtml(unit)}</text>`];
  for (let value = Math.ceil(range.low / step) * step; value <= range.high + step / 1e6; value += step) {
    const y = yOf(value, panel, range).toFixed(1);
    const text = value.toFixed(step < 1 ? 1 : 0).replace(/^-0(\.0)?$/, "0");
    lines.push(`<line class="rule" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y}" y2="${y}"/>`);
    lines.push(
      `<text x="${LEFT - 8}" y="${Number(y) + 4}" text-anchor="end">${text.replace("-", "−")}</text>`,
    );
  }
  return lines;
}

function drawLevel(level: Level, range: Range): readonly string[] {
  const y = yOf(level.value, SCORE, range).toFixed(1);
  return [
    `<line class="level" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y}" y2="${y}"/>`,
    `<text class="ink" x="${WIDTH - RIGHT + 8}" y="${Number(y) + 4}">${escapeHtml(level.label)}</text>`,
  ];
}

/**
 * Draws the true episode in the price's panel, or a flare in the score's panel. A flare's edges
 * cross both panels.
 */
function drawMark(mark: Mark, lastIndex: number, x: (index: number) => number): readonly string[] {
  const panel = mark.kind === "truth" ? PRICE : SCORE;
  const [left, right] = [x(Math.max(0, mark.from)), x(Math.min(lastIndex, mark.to))];
  const width = Math.max(1, right - left).toFixed(1);
  const box = `<rect class="${mark.kind}" x="${left.toFixed(1)}" y="${panel.top}" width="${width}" height="${panel.height}"/>`;
  const isFarRight = left > (LEFT + WIDTH - RIGHT) * 0.7;
  const anchor = isFarRight
    ? `x="${WIDTH - RIGHT}" text-anchor="end"`
    : `x="${(left + (mark.kind === "flare" ? 6 : 0)).toFixed(1)}"`;
  const label = `<text class="halo" ${anchor} y="${panel.top - 8}">${escapeHtml(mark.label)}</text>`;
  if (mark.kind === "truth") return [box, label];
  const edges = [mark.from, mark.to]
    .filter((index) => index >= 0 && index <= lastIndex)
    .map((index) => {
      const at = x(index).toFixed(1);
      return `<line class="edge" x1="${at}" x2="${at}" y1="${PRICE.top}" y2="${SCORE.top + SCORE.height}"/>`;
    });
  return [box, ...edges, label];
}

function drawTime(firstMinute: number, minutes: number, x: (index: number) => number): readonly string[] {
  const y = SCORE.top + SCORE.height;
  const ticks: string[] = [];
  for (let index = 0; index < minutes; index += 1) {
    const minute = firstMinute + index;
    if (minute % TICK_MINUTES !== 0) continue;
    const text = `${minute < 0 ? "−" : ""}${Math.abs(minute)}`;
    ticks.push(`<text x="${x(index).toFixed(1)}" y="${y + 18}" text-anchor="middle">${text}</text>`);
  }
  const middle = x((minutes - 1) / 2).toFixed(1);
  return [
    ...ticks,
    `<text x="${middle}" y="${y + 38}" text-anchor="middle">minutes since the episode began</text>`,
  ];
}

function niceStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 5, 10].find((candidate) => candidate * power >= rough) ?? 10;
  return factor * power;
}
