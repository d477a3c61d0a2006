import { spawn, spawnSync } from "node:child_process";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { findChromium } from "../../browser/chromium.ts";
import { IS_SOAK } from "../../support/law-runs.ts";
import type { Row } from "./report.ts";

const BENCH = fileURLToPath(new URL("bench.ts", import.meta.url));

/** Each suite runs in its own process. `npm test` runs one suite, the soak runs all. */
const ENGINE = fileURLToPath(new URL("engine.ts", import.meta.url));

test("the engine's bench runs, and every figure of a short run is a number above 0", async () => {
  const args = IS_SOAK ? [BENCH, "engine", "--hours", "0.02", "--json"] : [ENGINE, "day", "0.02", "1.1"];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const printed = JSON.parse(await text(child.stdout));
  const rows: readonly Row[] = IS_SOAK ? printed.rows : printed;
  const live = ["trades/CPU s", "CPU ms", "CPU ms"];
  const rates = ["trades/CPU s", "trades/CPU s", "trades/CPU s", "trades/CPU s", "ms", "ms"];
  expect(rows.map(({ unit }) => unit)).toEqual([
    ...(IS_SOAK ? [...live, ...live, ...rates] : []),
    "CPU s",
    "MiB",
  ]);
  for (const { value } of rows) expect(value).toBeGreaterThan(0);
});

/** The load client is written in C. */
const compiler = spawnSync("cc", ["--version"]).status === 0;
if (!compiler && process.env.CI === "true") throw new Error("the fan-out bench needs a C compiler named cc");
const title = "the fan-out bench runs with the available peers, and every delivery has a cost";

test.skipIf(!IS_SOAK || !compiler)(compiler ? title : `${title} (skipped: there is no cc)`, async () => {
  const child = spawn(process.execPath, [BENCH, "fanout", "--part", "uniform", "--short", "--json"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const { suite, rows } = JSON.parse(await text(child.stdout));
  expect(suite).toBe("fanout");
  const costs = rows.filter(({ unit }: { unit: string }) => unit === "µs/delivery");
  const names = new Set(costs.map(({ what }: { what: string }) => what.split(": ").at(-1)));
  expect([...names]).toEqual(expect.arrayContaining(["flarewire", "floor", "ws", "@fastify/websocket"]));
  for (const { value } of rows) expect(value).toBeGreaterThan(0);
});

const browser = findChromium() !== undefined;
const pages = "the benches of dashboard and widget run, and reach the aims that do not depend on speed";

test.skipIf(!IS_SOAK || !browser)(browser ? pages : `${pages} (skipped: there is no chromium)`, async () => {
  const child = spawn(process.execPath, [BENCH, "dashboard", "widget", "--short", "--json"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const suites = (await text(child.stdout)).trim().split("\n");
  const [dashboard = [], widget = []] = suites.map((line): readonly Row[] => JSON.parse(line).rows);
  const figure = (rows: readonly Row[], end: string) => rows.find(({ what }) => what.endsWith(end))?.value;
  for (const rows of [dashboard, widget]) {
    expect(figure(rows, "1 ms, p95")).toBeGreaterThan(0);
    expect(figure(rows, "such tasks")).toBeGreaterThan(0);
    expect(figure(rows, "busy")).toBeGreaterThan(0);
  }
  expect(figure(dashboard, "layout shift")).toBe(0);
  expect(figure(dashboard, "as sent (gzip)")).toBeGreaterThan(10);
  expect(figure(dashboard, "as sent (gzip)")).toBeLessThanOrEqual(80);
  expect(figure(widget, "as sent (gzip)")).toBeLessThanOrEqual(10);
  expect(figure(widget, "tabs opened")).toBe(1);
});
