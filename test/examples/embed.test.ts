import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { spawnNode } from "../app/cli/spawn-cli.ts";
import { IS_SOAK } from "../support/law-runs.ts";
import { pumpedDay } from "../support/world/pumped-market.ts";

const EXAMPLE = "examples/embed.ts";

/** Returns the example's path; in `npm test`, that of a copy with a market that plays faster. */
function example(): string {
  if (IS_SOAK) return EXAMPLE;
  const [before, after, ...more] = readFileSync(EXAMPLE, "utf8").split('feed: "replay",');
  expect([typeof after, more]).toEqual(["string", []]);
  const market = `feed: "replay", file: ${JSON.stringify(pumpedDay())}, group: "bsc", warmup: "1h",`;
  // A folder in the clone, where the copy finds the package, that Git ignores.
  mkdirSync(".on-demand", { recursive: true });
  const folder = mkdtempSync(".on-demand/embed-");
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "embed.ts"), `${before}${market}${after}`);
  return join(folder, "embed.ts");
}

test("a program that embeds Flarewire serves its own routes and Flarewire's, receives flares in process, and stops cleanly", async () => {
  await using program = spawnNode([example(), "0", IS_SOAK ? "2000" : "600"]);
  await program.said("stdout", /flare-started .*\n/);
  const url = /listening on (http:\S+)/.exec(program.stdout())?.[1];
  const line = /flare-started (.*)/.exec(program.stdout())?.[1];
  const lately = await fetch(`${url}/lately`);
  expect(await lately.json()).toContain(line);
  const flares = await fetch(`${url}/flarewire/api/v1/flares`);
  expect(flares.headers.get("flarewire-origin")).toBe("recorded");
  const body = JSON.stringify(await flares.json());
  expect(body).toContain(`"symbol":"${line?.split(" ")[1]}"`);
  program.child.kill("SIGTERM");
  expect(await program.ended()).toBe(0);
});
