import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { spawnCommand } from "../cli/spawn-cli.ts";

const ROOT = new URL("../../", import.meta.url);
const BOT = "examples/paper-trade.ts";

/** Runs the bot with these lines. */
async function trade(lines: readonly string[]) {
  await using bot = spawnCommand(process.execPath, [BOT], {}, { stdin: "pipe" });
  bot.child.stdin?.end(lines.map((line) => `${line}\n`).join(""));
  const code = await bot.ended();
  return { code, lines: bot.stdout().trim().split("\n"), stderr: bot.stderr() };
}

const at = (minute: number) => new Date(Date.UTC(2017, 10, 12, 8, minute)).toISOString();
const flare = (id: string, price: string, symbol = id) => ({ id, token: { symbol, price } });
const event = (name: string, minute: number, data: unknown, channel = "flares.pro") =>
  JSON.stringify({ name, channel, observed_at: at(minute), data });

test("buys at a start, sells at the finish or after half an hour, and pays for both", async () => {
  const { code, lines, stderr } = await trade([
    event("flare-started", 0, { flare: flare("A", "100", "A\u001B[2J") }),
    event("flare-started", 0, { flare: flare("A", "999") }, "flares.free"),
    event("flare-started", 1, { flare: flare("B", "2") }),
    "{",
    event("flare-updated", 5, { id: "A", set: { token: { symbol: "A", price: "90" } } }),
    event("flare-finished", 9, { id: "A", flare: flare("A", "110"), cause: "faded" }),
    event("flare-updated", 30, { id: "B", set: { token: { symbol: "B", price: "4" } } }),
    event("flare-updated", 31, { id: "B", set: { token: { symbol: "B", price: "1" } } }),
    event("flare-finished", 50, { id: "B", flare: flare("B", "9"), cause: "faded" }),
    event("flare-started", 51, { flare: flare("C", "5") }),
  ]);
  expect([code, stderr]).toEqual([0, "skipped a line that is not JSON\n"]);
  // 110 × 0.995 × 0.9975 for a cost of 100 × 1.005 × 1.0025, and likewise for the others.
  expect(lines).toEqual([
    `${at(0)} to ${at(9)}  A?[2J  100 to 110  +8.36 %  faded`,
    `${at(1)} to ${at(31)}  B  2 to 1  -50.74 %  time limit`,
    `${at(51)} to ${at(51)}  C  5 to 5  -1.49 %  no more events: valued, not sold`,
    "3 trades, 1 won; of one stake, after costs -43.87 % in total, before -40.00 %",
    "costs: fee +0.25 % and slippage +0.50 %, for each buy and each sale",
  ]);
});

test("its command reports the recorded day's result, and its document the same", {
  timeout: 30_000,
}, async () => {
  const written = readFileSync(new URL(BOT, ROOT), "utf8");
  const [, command = ""] = /npm run --silent flarewire -- (replay .*\\\n.*)/.exec(written) ?? [];
  const typed = `node src/main.ts ${command.replace("\\\n//", "").replace("npx node", "node")}`;
  await using both = spawnCommand("bash", ["-o", "pipefail", "-c", typed]);
  expect(await both.ended()).toBe(0);
  const [result = ""] = /^\d+ trades, .*$/m.exec(both.stdout()) ?? [];
  expect(result).not.toBe("");
  expect(readFileSync(new URL("examples/README.md", ROOT), "utf8")).toContain(result);
});
