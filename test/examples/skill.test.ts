import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { spawnCommand } from "../app/cli/spawn-cli.ts";
import { startLedGateway } from "./led-gateway.ts";

const [, BOT = ""] =
  /<!-- skill-bot -->\n```js\n([\s\S]*?)```/.exec(readFileSync("examples/SKILL.md", "utf8")) ?? [];

test("the skill file's bot reports each event once, over a lost connection and its own restart", async ({
  onTestFinished,
}) => {
  const directory = mkdtempSync(join(tmpdir(), "flarewire-skill-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, "bot.mjs");
  writeFileSync(path, BOT);
  await using gateway = await startLedGateway();
  const file = join(directory, "cursor.txt");
  /** Returns the events after the stored cursor. */
  const unreported = async () => {
    const query = `after=${readFileSync(file, "utf8")}&channels=flares.pro&names=flare-started,flare-surged,flare-finished`;
    const response = await fetch(`${gateway.url}/api/v1/events?${query}`);
    const { events }: { events: unknown[] } = JSON.parse(await response.text());
    return events;
  };
  const start = () => spawnCommand(process.execPath, [path, gateway.url], { CURSOR_FILE: file });
  const reported = (output: string) =>
    [...output.matchAll(/^(\w+) 0x\S+ "(\w+)"/gm)].map(([, what, symbol]) => `${what} ${symbol}`);

  await using first = start();
  await first.said("stderr", "simulated market, data is live");
  gateway.start("ONE");
  await first.said("stdout", "ONE");
  gateway.cut();
  gateway.start("TWO");
  gateway.surge("TWO");
  gateway.finish("TWO");
  await first.said("stdout", "finished");
  // Wait until the cursor is stored. A bot that ends before would report the last event again.
  await expect.poll(unreported).toEqual([]);
  expect(reported(first.stdout())).toEqual(["started ONE", "started TWO", "surged TWO", "finished TWO"]);
  await first[Symbol.asyncDispose]();

  gateway.start("THREE");
  await using second = start();
  await second.said("stdout", "THREE");
  expect(reported(second.stdout())).toEqual(["started THREE"]);
});
