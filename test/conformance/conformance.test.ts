import { test as base } from "vitest";
import { createConfig, startGateway } from "../../src/index.ts";
import { spawnNode } from "../cli/spawn-cli.ts";
import { BREAKAGES } from "./breakages.ts";
import { type Breakage, BrokenServer } from "./broken-server.ts";
import { reportOf } from "./report.ts";
import { loadNotTried, runSuite } from "./suite.ts";

/** A gateway with a market in which much happens, and a past that can be asked for. */
const CONFIG = {
  port: 0,
  speed: 60,
  warmup: "20m",
  heartbeat: "1s",
  drain: "0",
  logLevel: "silent",
} as const;

const test = base.extend<{ url: string }>({
  url: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads the fixtures that are used out of this pattern
    async ({}, use) => {
      const gateway = await startGateway(createConfig(CONFIG));
      await use(gateway.url);
      await gateway.stop();
    },
    { scope: "file" },
  ],
});

/** Runs the cases that prove these rules, or all, against a server that is broken like this. */
async function tryBroken(url: string, breakage: Breakage, rules?: readonly string[]) {
  await using server = new BrokenServer(url, breakage);
  const address = await server.listen();
  return reportOf(address, await runSuite({ url: address, rules, patienceMs: 8_000 }), {});
}

test.concurrent("a gateway passes every case over every transport, and leaves only what cannot be tried", async ({
  url,
  expect,
}) => {
  await using kit = spawnNode(["test/conformance/conformance.ts", "--url", url, "--json"]);
  expect(await kit.ended(), kit.stdout() + kit.stderr()).toBe(0);
  const report: ReturnType<typeof reportOf> = JSON.parse(kit.stdout());
  const left = report.rules.filter(({ verdict }) => verdict !== "passed").map(({ rule }) => rule);
  expect(left.toSorted()).toEqual(Object.keys(await loadNotTried()).toSorted());
});

test.concurrent("each broken server fails under the rule that it breaks, and one that breaks nothing does not", async ({
  url,
  expect,
}) => {
  const runs = Object.entries(BREAKAGES).map(async ([name, [rule, breakage]]) => {
    const report = await tryBroken(url, breakage, [rule]);
    const failed = report.rules.filter(({ verdict }) => verdict === "failed").map((one) => one.rule);
    return [name, failed.includes(rule) ? rule : failed] as const;
  });
  const whole = await tryBroken(url, {});
  expect(whole.rules.filter(({ verdict }) => verdict === "failed")).toEqual([]);
  const expected = Object.entries(BREAKAGES).map(([name, [rule]]) => [name, rule]);
  expect(await Promise.all(runs)).toEqual(expected);
});
