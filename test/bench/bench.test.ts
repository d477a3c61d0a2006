import { spawn, spawnSync } from "node:child_process";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const BENCH = fileURLToPath(new URL("./bench.ts", import.meta.url));

test("the engine's bench runs, and every figure of a short run is a number above 0", async () => {
  const child = spawn(process.execPath, [BENCH, "engine", "--hours", "0.02", "--json"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const { suite, rows } = JSON.parse(await text(child.stdout));
  expect(suite).toBe("engine");
  expect(rows.map(({ unit }: { unit: string }) => unit)).toEqual([
    "trades/CPU s",
    "trades/CPU s",
    "trades/CPU s",
    "trades/CPU s",
    "ms",
    "ms",
    "CPU s",
    "MiB",
  ]);
  for (const { value } of rows) expect(value).toBeGreaterThan(0);
}, 60_000);

/** The load comes from a client in C. */
const compiler = spawnSync("cc", ["--version"]).status === 0;
if (!compiler && process.env.CI === "true") throw new Error("the fan-out bench needs a C compiler named cc");
const title = "the fan-out bench runs with what is at hand, and every delivery cost something";

test.skipIf(!compiler)(
  compiler ? title : `${title} (skipped: there is no cc)`,
  async () => {
    const child = spawn(process.execPath, [BENCH, "fanout", "--part", "uniform", "--short", "--json"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const { suite, rows } = JSON.parse(await text(child.stdout));
    expect(suite).toBe("fanout");
    const costs = rows.filter(({ unit }: { unit: string }) => unit === "µs/delivery");
    const names = new Set(costs.map(({ what }: { what: string }) => what.split(": ").at(-1)));
    expect([...names]).toEqual(expect.arrayContaining(["flarewire", "floor", "ws", "@fastify/websocket"]));
    for (const { value } of rows) expect(value).toBeGreaterThan(0);
  },
  120_000,
);
