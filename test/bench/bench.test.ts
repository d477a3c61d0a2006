import { spawn } from "node:child_process";
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
