import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test as base, expect, vi } from "vitest";
import { formatKeys, mintSecret } from "../../../src/gateway/keys/index.ts";
import { createConfig, startGateway } from "../../../src/index.ts";
import { spawnNode } from "../../app/cli/spawn-cli.ts";
import { LedMarket } from "../../examples/led-gateway.ts";
import { IS_SOAK } from "../../support/law-runs.ts";
import { eventually } from "../../support/time/waiters.ts";
import { pumpedSettings } from "../../support/world/pumped-market.ts";
import { BREAKAGES, KEYED_BREAKAGES, SURGE_BREAKAGES } from "./breakages.ts";
import { type Breakage, BrokenServer } from "./broken-server.ts";
import { reportOf } from "./report.ts";
import { runKit } from "./run-kit.ts";
import { loadCases, loadNotTried, runSuite } from "./suite.ts";

const QUIET = { port: 0, heartbeat: "1s", drain: "0", compression: false, logLevel: "silent" } as const;
/** A market with a past and few tokens, in which a flare starts every ten seconds. */
const CONFIG = { ...QUIET, ...pumpedSettings(), speed: 120 } as const;
/** A market of many tokens, whose pools have liquidity. */
const LIQUID = { ...QUIET, speed: 20, warmup: "20m" } as const;

/** Rules that do not apply to an open server. */
const OF_KEYS = ["K1", "K2", "K3"];
/** Rules whose result depends on the plan. */
const BY_PLAN = [
  "W1",
  "W8",
  "W9",
  "W11",
  "W13",
  "W15",
  "S2",
  "P12",
  "F1",
  "F2",
  "K1",
  "K2",
  "K3",
  "K4",
  "K5",
];
/** Rules that are tested on a market with liquidity. */
const OF_LIQUIDITY = ["W27", "W28"];
/** The rule that is tested on a market in which flares surge for certain. */
const OF_SURGES = ["W45"];
/** The rule that only clients with a key can observe. */
const OF_TICKETS = ["K4"];

/** Starts a gateway with one key, which has the plan pro. */
async function startKeyed(config: object) {
  const directory = mkdtempSync(join(tmpdir(), "flarewire-conformance-"));
  const keys = join(directory, "keys.json");
  const { id, digest, text: key } = mintSecret("fw");
  writeFileSync(keys, formatKeys([{ id, sha256: digest.toString("hex"), plan: "pro" }]));
  const gateway = await startGateway(createConfig({ ...config, keys }));
  // A busy machine may need longer for the first snapshot than a start waits.
  await vi.waitUntil(() => gateway.head.ready, { timeout: 280_000 });
  const stop = async () => {
    await gateway.stop();
    rmSync(directory, { recursive: true });
  };
  return { gateway, key, stop };
}

const test = base.extend<{ url: string; keyed: { readonly url: string; readonly key: string } }>({
  keyed: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest requires a pattern.
    async ({}, use) => {
      const { gateway, key, stop } = await startKeyed(CONFIG);
      await use({ url: gateway.url, key });
      await stop();
    },
    { scope: "file" },
  ],
  url: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest requires a pattern.
    async ({}, use) => {
      const gateway = await startGateway(createConfig(CONFIG));
      await use(gateway.url);
      await gateway.stop();
    },
    { scope: "file" },
  ],
});

/** Patience for busy machines. */
const PATIENCE_MS = 90_000;
/** Patience with a broken server, which is often exhausted. */
const BROKEN_MS = 10_000;

/** Runs the cases of these rules against a server with this fault. */
async function tryBroken(
  { url, key }: { readonly url: string; readonly key?: string },
  breakage: Breakage,
  rules: readonly string[],
  patienceMs = PATIENCE_MS,
) {
  await using server = new BrokenServer(url, breakage);
  const address = await server.listen();
  return reportOf(address, await runSuite({ url: address, key, rules, patienceMs }), {});
}

/** Returns the rules that a server with this fault fails of those that the rule's cases try. */
async function failedBy(target: Parameters<typeof tryBroken>[0], breakage: Breakage, rule: string) {
  let failed: readonly string[] = [];
  for (const patienceMs of [BROKEN_MS, PATIENCE_MS]) {
    const { rules } = await tryBroken(target, breakage, [rule], patienceMs);
    failed = rules.filter(({ verdict }) => verdict === "failed").map((one) => one.rule);
    if (failed.includes(rule)) break;
  }
  return failed;
}

/** Runs the kit's command in this process, which is much faster than a separate one. */
async function runHere(...options: readonly string[]) {
  const output = { stdout: "", stderr: "" };
  const code = await runKit(options, {
    stdout: {
      write: (text) => {
        output.stdout += text;
      },
    },
    stderr: {
      write: (text) => {
        output.stderr += text;
      },
    },
  });
  return { code, ...output };
}

/** Runs the kit's command. Expects no failure, and returns the rules that did not pass. */
async function notPassed(...options: readonly string[]): Promise<readonly string[]> {
  const { code, stdout, stderr } = await runHere(
    "--json",
    "--patience",
    `${PATIENCE_MS / 1_000}`,
    ...options,
  );
  expect(code, stdout + stderr).toBe(0);
  const report: ReturnType<typeof reportOf> = JSON.parse(stdout);
  return report.rules.filter(({ verdict }) => verdict !== "passed").map(({ rule }) => rule);
}

test.concurrent("a gateway passes every case over every transport, except the rules that cannot be tried", async ({
  url,
  expect,
}) => {
  const untried = [...Object.keys(await loadNotTried()), ...OF_KEYS];
  const missing = (await notPassed("--url", url)).filter(
    (rule) => ![...OF_LIQUIDITY, ...OF_SURGES].includes(rule),
  );
  expect(missing.toSorted()).toEqual(untried.toSorted());
});

test.concurrent("a gateway with keys passes the rules that depend on the plan with a key, and all but tickets without one", async ({
  keyed,
  expect,
}) => {
  const { url, key } = keyed;
  const rules = BY_PLAN.flatMap((rule) => ["--rule", rule]);
  const runs = [notPassed("--url", url, "--key", key, ...rules), notPassed("--url", url, ...rules)];
  expect(await Promise.all(runs)).toEqual([[], OF_TICKETS]);
});

test("on a market with liquidity, a gateway passes the rules about filters, with a key and without one", async ({
  onTestFinished,
}) => {
  const { gateway, key, stop } = await startKeyed(LIQUID);
  onTestFinished(stop);
  const rules = ["--url", gateway.url, ...OF_LIQUIDITY.flatMap((rule) => ["--rule", rule])];
  expect(await Promise.all([notPassed(...rules, "--key", key), notPassed(...rules)])).toEqual([[], []]);
});

test.concurrent("[W45] on a market whose flares surge, a gateway passes the rule about surges, and each broken server fails it", async ({
  onTestFinished,
  expect,
}) => {
  const market = new LedMarket();
  const gateway = await startGateway(createConfig(QUIET), { source: market });
  onTestFinished(() => gateway.stop());
  const path = "/api/v1/events?channels=flares.pro&names=flare-surged&after=oldest";
  const stored = async () => {
    const body = (await (await fetch(gateway.url + path)).json()) as { events: readonly unknown[] };
    return body.events.length;
  };
  market.start("ONE");
  for (let number = 1; number <= 3; number += 1) market.surge("ONE");
  await expect.poll(stored).toBe(3);
  const { code, stdout } = await runHere("--json", "--url", gateway.url, "--rule", "W45");
  expect(code, stdout).toBe(0);
  const [report] = (JSON.parse(stdout) as ReturnType<typeof reportOf>).rules.filter(
    ({ rule }) => rule === "W45",
  );
  expect(report).toMatchObject({ verdict: "passed", passed: { length: 4 }, reasons: [] });
  const runs = Object.entries(SURGE_BREAKAGES).map(async ([name, [rule, breakage]]) => {
    return [name, await failedBy(gateway, breakage, rule)];
  });
  const expected = Object.entries(SURGE_BREAKAGES).map(([name, [rule]]) => [name, [rule]]);
  expect(await Promise.all(runs)).toEqual(expected);
});

test.concurrent("each broken server fails the rule that it breaks", async ({ url, keyed, expect }) => {
  const all = [
    ...Object.entries(BREAKAGES).map((one) => [{ url }, ...one] as const),
    ...Object.entries(KEYED_BREAKAGES).map((one) => [keyed, ...one] as const),
  ];
  // All of them in the soak, otherwise the first of every third rule.
  const rules = [...new Set(all.map(([, , [rule]]) => rule))].filter((_, index) => index % 3 === 0);
  const broken = all.filter(
    ([, , [rule]], index) =>
      IS_SOAK || (rules.includes(rule) && all.findIndex(([, , [one]]) => one === rule) === index),
  );
  const runs = broken.map(async ([target, name, [rule, breakage]]) => {
    const failed = await failedBy(target, breakage, rule);
    return [name, failed.includes(rule) ? rule : failed] as const;
  });
  const expected = broken.map(([, name, [rule]]) => [name, rule]);
  expect(await Promise.all(runs)).toEqual(expected);
});

// Not concurrent, because a case that compares two responses needs both within one market minute.
test.runIf(IS_SOAK)("a proxy without faults fails no rule", async ({ keyed, expect }) => {
  const all = (await loadCases()).flatMap((one) => one.rules);
  // The limits of W22 take ten seconds to reach, and the tests above try the gateway itself with
  // them.
  const whole = await tryBroken(
    keyed,
    {},
    all.filter((rule) => rule !== "W22" && rule !== "W26"),
  );
  expect(whole.rules.filter(({ verdict }) => verdict === "failed")).toEqual([]);
});

test.concurrent("a case that compares two responses is run again if the market changed between them", async ({
  url,
  expect,
}) => {
  let asked = 0;
  // The leaderboards change with each of the first six responses, so during the first run.
  const answer: Breakage["answer"] = (reported, { url: path = "" }) => {
    asked += path === "/api/v1/leaderboards" ? 1 : 0;
    const etag = asked <= 6 ? `"${asked}"` : reported.headers.etag;
    return path === "/api/v1/leaderboards"
      ? { ...reported, headers: { ...reported.headers, etag } }
      : reported;
  };
  const report = await tryBroken({ url }, { answer }, ["rest/etag"]);
  expect(asked).toBeGreaterThan(6);
  expect(report.rules.map(({ verdict, reasons }) => [verdict, reasons])).toEqual([["passed", []]]);
});

test.concurrent("a failure is reported with the expected and the received message, and exit code 1", async ({
  url,
  expect,
}) => {
  await using server = new BrokenServer(url, { closeCode: () => 1009 });
  const address = await server.listen();
  await using kit = spawnNode(["test/tools/conformance/conformance.ts", "--url", address, "--rule", "W19"]);
  expect(await kit.ended(), kit.stderr()).toBe(1);
  expect(
    kit.stdout(),
  ).toContain(`FAILED     W19              a message above the limit ends the connection, step 4
             expected the end with 4001 message-too-big
             received 1009 message-too-big
`);
});

test("the kit leaves no connection open on the server", async ({ url }) => {
  const results = await runSuite({ url, rules: ["W1", "W29", "S2", "P5", "P10"], patienceMs: PATIENCE_MS });
  expect(results.filter(({ outcome }) => outcome.kind !== "passed")).toEqual([]);
  const open = async () => {
    const metrics = await (await fetch(`${url}/metrics`)).text();
    const counts = metrics.match(/(?<=^flarewire_connections\{.*\} )\d+/gm) ?? ["none"];
    return counts.map(Number).reduce((sum, count) => sum + count, 0);
  };
  // Each request waits for its response, but the last connections may still be closing.
  let count: number | undefined;
  const isClosed = async () => {
    count = await open();
    return count === 0;
  };
  await eventually(isClosed, () => `${count} open connections`, { what: "the end of all connections" });
});

test.concurrent.each([
  [["--url", "http://127.0.0.1:1"], 75, "the server cannot be reached"],
  [["--url", "flares"], 2, '--url must be the http:// or https:// URL of a server, got "flares"'],
  [
    ["--url", "http://127.0.0.1:1", "--transport", "pigeon"],
    2,
    'unknown transport "pigeon"; known transports: websocket, sse, poll',
  ],
  [["--url", "http://127.0.0.1:1", "--patience", "0"], 2, "--patience must be from 1 to 3600 seconds"],
])("%j ends with exit code %i and the reason", async (options, code, output) => {
  const ended = await runHere(...options);
  expect(ended.code).toBe(code);
  expect(ended.stderr).toContain(output);
});
