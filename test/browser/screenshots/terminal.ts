/*
 * npx node test/browser/screenshots/terminal.ts: records `flarewire tail` on the simulated market
 * and writes src/app/cli/tail/tail.svg, which plays the recording faster.
 */
import { writeFileSync } from "node:fs";
import { PassThrough } from "node:stream";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { run } from "../../../src/app/cli/run.ts";
import { escapeHtml } from "../../../src/base/lib/text/escape-html.ts";
import { serveInProcess } from "../../app/cli/shell-in-process.ts";

const FILE = fileURLToPath(new URL("../../../src/app/cli/tail/tail.svg", import.meta.url));
const COMMAND = "$ npm run --silent flarewire -- tail";
/** The warm-up of the server, and the time of the recording. */
const WARM_UP_MS = 30_000;
const RECORDED_MS = 300_000;
/** The recording plays this many times faster, and its last picture stays for a moment. */
const SPEED = 15;
const STAY_MS = 4_000;
const COLUMNS = 100;
const ROWS = 22;
const WIDTH = 860;
const LINE_HEIGHT = 18;
/** From the top of a line to the base of its letters. */
const BASELINE = 14;
const MARGIN = 10;

interface Line {
  readonly atMs: number;
  readonly text: string;
}

writeFileSync(FILE, drawn(await record()));

/** Records the lines that `tail` prints on a terminal, in colors, each with its time. */
async function record(): Promise<readonly Line[]> {
  const server = await serveInProcess(["--port", "0"]);
  await setTimeout(WARM_UP_MS);
  const lines: Line[] = [];
  const startMs = performance.now();
  const screen = () => {
    const isScreen = { isTTY: true, columns: COLUMNS, rows: ROWS, hasColors: () => true };
    const output = Object.assign(new PassThrough(), isScreen);
    output.setEncoding("utf8").on("data", (text: string) => {
      const atMs = performance.now() - startMs;
      for (const line of text.replace(/\n$/, "").split("\n")) lines.push({ atMs, text: line });
    });
    return output;
  };
  const terminal = { environment: {}, stdout: screen(), stderr: screen() };
  const ended = run(["tail", server.url], terminal);
  await setTimeout(RECORDED_MS);
  terminal.stdout.destroy(Object.assign(new Error("the reader has left"), { code: "EPIPE" }));
  await ended;
  await server.stop();
  return [{ atMs: 0, text: COMMAND }, ...lines];
}

/** Draws a terminal in which each line appears at its time. Without animation, shows the last. */
function drawn(lines: readonly Line[]): string {
  const totalMs = RECORDED_MS / SPEED + STAY_MS;
  const times = lines.map(({ atMs }) => Math.round((atMs / SPEED / totalMs) * 1_000) / 10);
  const hidden = (shown: number) => Math.max(0, shown - ROWS) * LINE_HEIGHT;
  const last = hidden(lines.length);
  const visible = times.map((percent) => times.filter((other) => other <= percent).length);
  const moves = new Map(times.map((percent, at) => [percent, hidden(visible[at] ?? 0)]));
  const scroll = [...moves].map(([percent, y]) => `${percent}%{transform:translateY(-${y}px)}`);
  const hold = (totalMs / 1_000).toFixed(1);
  const kinds = [...new Set(times)];
  const styles = kinds.map(
    (percent, at) =>
      `@keyframes k${at}{${percent > 0 ? "0%{opacity:0}" : ""}${percent}%,100%{opacity:1}}.k${at}{animation-name:k${at}}`,
  );
  const texts = lines.map(({ text }, at) => {
    const kind = kinds.indexOf(times[at] ?? 0);
    return `<text class="k${kind}" y="${BASELINE + at * LINE_HEIGHT}">${spans(text)}</text>`;
  });
  const height = ROWS * LINE_HEIGHT;
  const size = `width="${WIDTH}" height="${height + 2 * MARGIN}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" viewBox="0 0 ${WIDTH} ${height + 2 * MARGIN}" ${size} role="img">
<title>flarewire tail prints the flares of the simulated market as they start and end, with their reasons</title>
<style>text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#d7dce2;white-space:pre}
.s2{fill:#8b949e}.s31{fill:#ff7b72}.s32{fill:#7ee787}.s33{fill:#e3b341}.s36{fill:#79c0ff}.s1{font-weight:700}
g{transform:translateY(-${last}px)}
@media (prefers-reduced-motion:no-preference){g,text{animation:${hold}s step-end infinite}g{animation-name:scroll}
@keyframes scroll{${scroll.join("")}100%{transform:translateY(-${last}px)}}
${styles.join("\n")}}</style>
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
<svg aria-hidden="true" x="${MARGIN}" y="${MARGIN}" width="${WIDTH - 2 * MARGIN}" height="${height}"><g>
${texts.join("\n")}
</g></svg></svg>
`;
}

/** Turns the colors of a terminal's line into classes. */
function spans(text: string): string {
  const parts = text.split("\u001B[");
  const plain = escapeHtml(parts[0] ?? "");
  return parts.slice(1).reduce((drawnText, part) => {
    const [, style = "", rest = ""] = /^(\d+)m(.*)$/s.exec(part) ?? [];
    const shown = escapeHtml(stripVTControlCharacters(rest));
    if (shown === "") return drawnText;
    const isPlain = ["0", "22", "27", "39"].includes(style);
    return drawnText + (isPlain ? shown : `<tspan class="s${style}">${shown}</tspan>`);
  }, plain);
}
