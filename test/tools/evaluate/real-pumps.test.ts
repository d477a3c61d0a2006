import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { IS_SOAK } from "../../support/law-runs.ts";
import { newDirectory } from "../../support/servers/edges.ts";
import { loadPumps, runPump, scorePumps } from "./real-pumps.ts";

const PUMPS = new URL("../../../../shared/data/real-pumps/", import.meta.url).pathname;
const START = Date.UTC(2021, 0, 9, 12);
const MINUTE = 60_000;
const ANNOUNCED = START + 120 * MINUTE;
const ONSET = ANNOUNCED + 3_000;

/** Returns the trades of three quiet hours, with a rise by a half within eight seconds. */
function tradesOfPump(): string {
  const lines = ["time_ms,side,price,amount"];
  const quiet = (from: number, until: number, price: number) => {
    for (let at = from; at < until; at += 4_000)
      lines.push(`${at},${(at / 4_000) % 2 === 0 ? "b" : "s"},${price},1`);
  };
  quiet(START, ONSET, 0.00001);
  for (let n = 0; n < 80; n++) {
    const at = ONSET + Math.floor(n / 4) * 400;
    lines.push(`${at},b,${(0.00001 * (1 + 0.5 * ((n + 1) / 80))).toFixed(12)},40`);
  }
  for (let n = 0; n < 40; n++)
    lines.push(`${ONSET + 9_000 + n * 500},s,${(0.000015 - 0.0000001 * n).toFixed(12)},40`);
  quiet(ONSET + 30_000, START + 240 * MINUTE, 0.000011);
  return `${lines.join("\n")}\n`;
}

test("a made-up pump is scored: seconds to its start, what is ahead, and the minutes to its end", ({
  onTestFinished,
}) => {
  const directory = newDirectory(onTestFinished);
  const pump = {
    ...{ name: "ABC", pair: "ABCBTC", announced: ANNOUNCED, base: 0.00001, peak: 0.000015, rise: 0.5 },
    ...{ onset: ONSET, half_lost: ONSET + 21_500 },
  };
  writeFileSync(join(directory, "pumps.json"), JSON.stringify([pump]));
  writeFileSync(join(directory, "ABC.trades.csv.gz"), gzipSync(tradesOfPump()));
  const figures = scorePumps(loadPumps(directory).map((one) => runPump(directory, one)));
  expect(figures).toMatchObject({
    "pumps of 10 % or more": 1,
    "with a start or surge": 1,
    "of these surges": 0,
    "natural starts a pair-day": 0,
    "start or surge in the hour before the announcement": 0,
  });
  expect(figures["seconds after the first 2 %, p50"]).toBeLessThanOrEqual(4);
  expect(figures["share of the move ahead, p50"]).toBeGreaterThan(0.4);
  expect(figures["minutes from half lost to the finish, p50"]).toBeLessThan(1);
});

test.runIf(IS_SOAK && existsSync(PUMPS))(
  "on the real pumps of the development half, nearly all have a start or surge within seconds [needs the recording]",
  () => {
    const figures = scorePumps(loadPumps(PUMPS).map((one) => runPump(PUMPS, one)));
    expect(figures["with a start or surge"]).toBeGreaterThanOrEqual(23);
    expect(figures["seconds after the first 2 %, p50"]).toBeLessThanOrEqual(1);
    expect(figures["natural starts a pair-day"]).toBeLessThanOrEqual(0.5);
  },
);
