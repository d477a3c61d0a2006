import { test as base, expect } from "vitest";
import { createConfig, startGateway } from "../../src/index.ts";
import { spawnNode } from "../cli/spawn-cli.ts";
import { BREAKAGES } from "./breakages.ts";
import { type Breakage, BrokenServer } from "./broken-server.ts";
import { reportOf } from "./report.ts";
import { loadCases, loadNotTried, runSuite } from "./suite.ts";

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
  return reportOf(address, await runSuite({ url: address, rules, patienceMs: 20_000 }), {});
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
  const all = (await loadCases()).flatMap((one) => one.rules);
  // The limits of W22 take ten seconds to reach, and the gateway itself is tried with them above.
  const whole = await tryBroken(
    url,
    {},
    all.filter((rule) => rule !== "W22" && rule !== "W26"),
  );
  expect(whole.rules.filter(({ verdict }) => verdict === "failed")).toEqual([]);
  const expected = Object.entries(BREAKAGES).map(([name, [rule]]) => [name, rule]);
  expect(await Promise.all(runs)).toEqual(expected);
});

test.concurrent("what failed is told with what was expected and what came: exit code 1", async ({
  url,
  expect,
}) => {
  await using server = new BrokenServer(url, { closeCode: () => 1009 });
  const address = await server.listen();
  await using kit = spawnNode(["test/conformance/conformance.ts", "--url", address, "--rule", "W19"]);
  expect(await kit.ended(), kit.stderr()).toBe(1);
  expect(
    kit.stdout(),
  ).toContain(`FAILED     W19              a message above the limit ends the connection, step 4
             expected the end with 4001 message-too-big
             came     1009 message-too-big
`);
});

test("nothing is left behind on the server", async ({ url }) => {
  const results = await runSuite({ url, rules: ["W1", "W29", "S2", "P5", "P10"] });
  expect(results.filter(({ outcome }) => outcome.kind !== "passed")).toEqual([]);
  const open = async () => {
    const metrics = await (await fetch(`${url}/metrics`)).text();
    const counts = metrics.match(/(?<=^flarewire_connections\{.*\} )\d+/gm) ?? ["none"];
    return counts.map(Number).reduce((sum, count) => sum + count, 0);
  };
  // Each question waits for its answer; the last connections are on their way out.
  while ((await open()) !== 0);
});

test.concurrent.each([
  [["--url", "http://127.0.0.1:1"], 75, "the server cannot be reached"],
  [["--url", "flares"], 2, '--url has to be the http:// or https:// address of a server, not "flares"'],
  [
    ["--url", "http://127.0.0.1:1", "--transport", "pigeon"],
    2,
    '"pigeon" is no transport: websocket, sse, poll',
  ],
  [["--url", "http://127.0.0.1:1", "--patience", "0"], 2, "--patience has to be from 1 to 3600 seconds"],
])("%j ends with exit code %i, and says why", async (options, code, said) => {
  await using kit = spawnNode(["test/conformance/conformance.ts", ...options]);
  expect(await kit.ended()).toBe(code);
  expect(kit.stderr()).toContain(said);
});
