/*
 * npm run soak [-- --seeds 1000 --from 1 --hours 1 --kills 100 --churn 3600 --outage 10
 * --laws 20]: many rounds of tests.
 * npm run soak -- cluster [--seeds 10000 --from 1 --kills 1000 --leader-every 7]: simulated runs of
 * the cluster's protocol, then real processes that are killed.
 * npm run soak -- cluster --seeds 0 --kills 0 --rolling 2000: each gateway of a cluster restarts
 * in turn, under 2,000 clients.
 * npm run soak -- history [--kills 20]: compares a killed gateway's history with another's.
 * npm run soak -- record: compares the track record of ten recorded days and a simulated week with
 * a script.
 * npm run soak -- files: 10,000 clients at 12,000 and at 1,024 open files.
 * npm run soak -- delay: compares the histogram of delays with real clients' measurements.
 * npm run soak -- python [--minutes 30]: clients in Python behind proxies that cut and freeze.
 * npm run soak -- node-red [--kills 10]: kills the real Node-RED with Flarewire's nodes.
 * npm run soak -- mcp: the official conformance suite of the Model Context Protocol.
 * npm run soak -- contracts: Postman, Bruno and three code generators read the served OpenAPI.
 * npm run soak -- upgrade [--commit 9c23a772]: this version on a copy of an earlier one's data.
 * npm run soak -- operator: DEPLOY.md, with nginx and with Caddy.
 * npm run soak -- at [--days 7 --minutes 1000 --from 1]: past minutes of a simulated market.
 */
import { spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { runOfficialSuite } from "../../extensions/mcp/official-suite.ts";
import { runChaos } from "./chaos-run.ts";
import { runChurn } from "./churn.ts";
import { runSimulations } from "./cluster.ts";
import { runDelay } from "./delay.ts";
import { runNodeRed } from "./node-red.ts";
import { runOpenFiles } from "./open-files.ts";
import { runOperator } from "./operator.ts";
import { runPast } from "./past.ts";
import { runPython } from "./python.ts";
import { runUpgrade } from "./upgrade.ts";

const TESTS = fileURLToPath(new URL("../../", import.meta.url));
const PROGRESS_EVERY = 100;
/** Maximum growth of the heap in the second half of a churn, caused by newly compiled code. */
const MAX_GROWTH_BYTES = 1e6;

/** Test files with properties that are tried on random cases, see test/support/law-runs.ts. */
const LAWS = globSync("**/*.test.ts", { cwd: TESTS })
  .filter((file) =>
    /(law-runs|client-packages)\.ts"|(-log|lasting)-contract\.ts"|\bwidthsFor\b/.test(
      readFileSync(join(TESTS, file), "utf8"),
    ),
  )
  .map((file) => file.replace(/\.test\.ts$/, ""));
const MAX_PAST_P99_MS = 50;

const SUITES = [
  "cluster",
  "history",
  "record",
  "at",
  "files",
  "delay",
  "operator",
  "upgrade",
  "python",
  "node-red",
  "mcp",
  "contracts",
];
const values = readOptions();

/** Parses the options as text. Exits on an unknown option. */
function readOptions() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        seeds: { type: "string", default: "1000" },
        from: { type: "string", default: "1" },
        hours: { type: "string", default: "1" },
        kills: { type: "string", default: "100" },
        rolling: { type: "string", default: "0" },
        "leader-every": { type: "string", default: "7" },
        churn: { type: "string", default: "3600" },
        outage: { type: "string", default: "10" },
        laws: { type: "string", default: "20" },
        commit: { type: "string", default: "9c23a772" },
        days: { type: "string", default: "7" },
        minutes: { type: "string" },
      },
    });
    const [suite, more] = positionals;
    if (more !== undefined || (suite !== undefined && !SUITES.includes(suite)))
      return refuse(`unknown suite ${more ?? suite}. Use ${SUITES.join(", ")}, or none`);
    return { ...values, suite };
  } catch (error) {
    return refuse(
      `${error instanceof Error ? error.message : error}. Use --seeds, --from, --hours, --kills, --leader-every, --rolling, --churn, --outage, --laws, --days, --minutes`,
    );
  }
}

/** Parses the value of an option. Exits if it is outside its bounds. */
function read(name: Exclude<keyof typeof values, "suite" | "commit">, min: number, max: number): number {
  const value = Number(values[name]);
  if (value >= min && value <= max) return value;
  return refuse(`--${name} must be a number from ${min} to ${max}, not ${values[name]}`);
}

function refuse(why: string): never {
  process.stderr.write(`soak: ${why}\n`);
  process.exit(1);
}

const [seeds, from, hours, kills, churnSeconds, outageMinutes, laws] = [
  read("seeds", 0, 1e6),
  read("from", 0, 1e6),
  read("hours", 0.01, 24),
  read("kills", 0, 10_000),
  read("churn", 0, 1e5),
  read("outage", 0, 60),
  read("laws", 0, 1_000),
];
if (values.suite === "history")
  process.exit(runTests({ HISTORY_KILLS: `${kills}` }, "extensions/history/killed") ? 0 : 1);
if (values.suite === "record")
  process.exit(
    runTests({ FLAREWIRE_LONG: "1" }, "extensions/history/recorded-record", "feeds/replay/recordings")
      ? 0
      : 1,
  );
if (values.suite === "contracts")
  process.exit(runTests({ LAW_FACTOR: "2" }, "extensions/docs/contracts/tools") ? 0 : 1);
if (values.suite === "files") process.exit((await runOpenFiles()) ? 0 : 1);
if (values.suite === "operator")
  process.exit((await runOperator("nginx")) && (await runOperator("caddy")) ? 0 : 1);
if (values.suite === "delay") process.exit((await runDelay()) ? 0 : 1);
if (values.suite === "python") {
  const minutes = values.minutes === undefined ? 30 : read("minutes", 0.1, 35);
  process.stdout.write(`${await runPython(minutes, from)}\n`);
  process.exit(0);
}
if (values.suite === "node-red") {
  process.stdout.write(`${await runNodeRed(kills)}\n`);
  process.exit(0);
}
if (values.suite === "mcp") {
  process.stdout.write(`${await runOfficialSuite()}\n`);
  process.exit(0);
}
if (values.suite === "upgrade") process.exit((await upgrade(values.commit)) ? 0 : 1);
if (values.suite === "at") process.exit((await past()) ? 0 : 1);
if (values.suite === "cluster") {
  const code = runSimulations(from, seeds);
  const lengths = { CLUSTER_KILLS: `${kills}`, CLUSTER_LEADER_EVERY: `${read("leader-every", 1, 1_000)}` };
  const isKilledWell = kills === 0 || runTests(lengths, "scenarios/cluster");
  const clients = read("rolling", 0, 10_000);
  const isRolledWell =
    clients === 0 || runTests({ CLUSTER_CLIENTS: `${clients}` }, "scenarios/cluster-rolling");
  process.exit(isKilledWell && isRolledWell ? code : 1);
}
const startedAt = performance.now();
const seconds = () => Math.round((performance.now() - startedAt) / 1_000);
const failed: number[] = [];
const total = { events: 0, connections: 0, cut: 0, frozen: 0, slowed: 0, resumed: 0, resets: 0, compared: 0 };
const sums = () =>
  Object.entries(total)
    .map(([what, count]) => `${what} ${count}`)
    .join(", ");

for (let done = 1; done <= seeds; done += 1) {
  const seed = from + done - 1;
  try {
    const tally = await runChaos(seed, hours);
    for (const key of Object.keys(total) as (keyof typeof total)[]) total[key] += tally[key];
  } catch (error) {
    failed.push(seed);
    process.stdout.write(`${error instanceof Error ? error.message : error}\n`);
  }
  if (done % PROGRESS_EVERY === 0 || done === seeds) {
    process.stdout.write(`${done} of ${seeds} seeds in ${seconds()} s, ${failed.length} failed; ${sums()}\n`);
  }
}

const isKilledWell = kills === 0 || runTests({ KILLS: `${kills}` }, "scenarios/kill");
const isBackWell =
  outageMinutes === 0 || runTests({ OUTAGE_MINUTES: `${outageMinutes}` }, "scenarios/live-outages");
const areLawsHeld = laws === 0 || runTests({ LAW_FACTOR: `${Math.floor(laws)}` }, ...LAWS);
const isLeftWell = churnSeconds === 0 || (await churn(Math.floor(churnSeconds)));
const isGood = failed.length === 0 && isKilledWell && isBackWell && areLawsHeld && isLeftWell;
const chaos =
  failed.length === 0
    ? "every client ended with the state that REST serves"
    : `seeds ${failed.join()} failed`;
const killed = kills === 0 ? "" : `; ${kills} kills: ${isKilledWell ? "passed" : "failed"}`;
const outages = outageMinutes === 0 ? "" : `; outages: ${isBackWell ? "passed" : "failed"}`;
const tried = laws === 0 ? "" : `; laws: ${areLawsHeld ? "passed" : "failed"}`;
const churned = churnSeconds === 0 ? "" : `; churn: ${isLeftWell ? "passed" : "failed"}`;
process.stdout.write(
  `${isGood ? "passed" : "FAILED"} in ${seconds()} s: ${chaos}${killed}${outages}${tried}${churned}\n`,
);
// After a hundred seeds, open handles, probably of the clients' HTTP pools, keep the process alive
// for minutes.
process.exit(isGood ? 0 : 1);

/**
 * Opens and ends a hundred connections a second for `durationS` seconds. Resolves with true if
 * nothing is left and the heap grew no more than newly compiled code explains.
 */
async function churn(durationS: number): Promise<boolean> {
  const { came, most, left, growth } = await runChurn({ seconds: durationS, perSecond: 100, seed: 1 });
  const all = Object.values(came).reduce((sum, count) => sum + count, 0);
  const remaining = (["sessions", "limiter", "Session", "Group", "Socket"] as const).filter(
    (what) => left[what] !== 0,
  );
  const what =
    remaining.length === 0 ? "nothing is left" : `left: ${remaining.join()} of ${JSON.stringify(left)}`;
  const per = `${growth.toFixed(1)} bytes of heap for each of the second half`;
  process.stdout.write(`${all} connections opened and ended, at most ${most} at a time: ${what}; ${per}\n`);
  return remaining.length === 0 && growth * (all / 2) < MAX_GROWTH_BYTES;
}

/**
 * Starts this version on a copy of an earlier version's data. Resolves with true if every client
 * can resume.
 */
async function upgrade(commit: string): Promise<boolean> {
  const problems = await runUpgrade(commit);
  const result =
    problems?.slice(0, 9).join("\n") ||
    "same epoch, every cursor resumes, the other run's cursors are rejected";
  process.stdout.write(
    problems ? `${result}\n` : `skipped: this clone has no commit ${commit}; use --commit\n`,
  );
  return !problems || problems.length === 0;
}

/** Compares past minutes with the live responses. Resolves with true if all are equal, and fast. */
async function past(): Promise<boolean> {
  const minutes = values.minutes === undefined ? 1_000 : read("minutes", 1, 1e5);
  const run = await runPast({ seed: from, days: read("days", 0.1, 31), minutes });
  const { compared, wrong, p50Ms, p99Ms, coldP99Ms, stored, bytesPerDay, fileBytesPerDay, cpuMsPerMinute } =
    run;
  const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
  process.stdout.write(
    [
      `${compared} past responses compared, ${wrong.length} differ ${wrong.slice(0, 5).join("; ")}`,
      `p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms, of the first request for a minute ${coldP99Ms.toFixed(1)} ms`,
      `${stored} minutes: ${megabytes(bytesPerDay)} a day, ${megabytes(fileBytesPerDay)} in the file`,
      `${cpuMsPerMinute.toFixed(1)} ms of CPU to store a minute\n`,
    ].join("\n"),
  );
  return compared > 0 && wrong.length === 0 && p99Ms <= MAX_PAST_P99_MS;
}

/** Runs tests with these environment variables. Returns true if they pass. */
function runTests(lengths: Readonly<Record<string, string>>, ...names: readonly string[]): boolean {
  const cwd = fileURLToPath(new URL("../../../", import.meta.url));
  const { status } = spawnSync(
    "npx",
    ["vitest", "run", "--root", "test", "--testTimeout=3600000", ...names.map((name) => `${name}.`)],
    {
      cwd,
      env: { ...process.env, ...lengths },
      stdio: ["ignore", "inherit", "inherit"],
    },
  );
  return status === 0;
}
