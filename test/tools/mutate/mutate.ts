/*
 * npm run mutate [-- --folder exchange --parallel 2 --only survivors --limit 600]: reports which
 * small faults the tests find.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Fault, locate, placeOf, readFaults } from "./fault-list.ts";
import { meetsGoal, Results, resultTable } from "./results.ts";
import { ROOT, Sandbox } from "./sandbox.ts";

const MAX_PARALLEL = 16;
const MAX_LIMIT_S = 3_600;

const options = readOptions();
const results = new Results();
const faults = selectFaults();
const sandboxes: Sandbox[] = [];
/** Whether a set of tests passes without a fault. Only then can it find one. */
const sound = new Map<string, Promise<boolean>>();

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        folder: { type: "string", multiple: true },
        parallel: { type: "string", default: "1" },
        only: { type: "string" },
        limit: { type: "string", default: "300" },
      },
    });
    if (values.only !== undefined && values.only !== "survivors")
      return refuse(`--only must be survivors, not ${values.only}`);
    return { ...values, parallel: read("parallel", values.parallel), limit: read("limit", values.limit) };
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}

function read(name: "parallel" | "limit", text: string): number {
  const max = name === "parallel" ? MAX_PARALLEL : MAX_LIMIT_S;
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= max) return value;
  return refuse(`--${name} must be a whole number from 1 to ${max}, not ${text}`);
}

function refuse(why: string): never {
  process.stderr.write(`mutate: ${why}\n`);
  process.exit(1);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function sourceOf({ file }: Fault): string {
  return readFileSync(join(ROOT, file), "utf8");
}

/**
 * Returns the faults that the options select. Ends the process if a fault's text is no longer in
 * its file.
 */
function selectFaults(): readonly Fault[] {
  const all = readFaults();
  const folders = new Set(all.map(({ folder }) => folder));
  for (const folder of options.folder ?? [])
    if (!folders.has(folder)) refuse(`unknown folder ${folder}; known: ${[...folders].join(", ")}`);
  const selected = all.filter(({ folder }) => options.folder?.includes(folder) ?? true);
  try {
    for (const fault of selected) locate(fault, sourceOf(fault));
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
  return selected;
}

/** Returns whether these tests pass without a fault. Runs each set of tests once. */
function isSound(tests: readonly string[], sandbox: Sandbox): Promise<boolean> {
  const key = tests.join(" ");
  const known =
    sound.get(key) ??
    sandbox.run(tests, options.limit * 1_000).then((verdict) => {
      const why = verdict.kind === "failed" ? verdict.by : "the time limit";
      if (verdict.kind !== "passed") say(`skipping tests that fail without a fault (${why}): ${key}`);
      return verdict.kind === "passed";
    });
  sound.set(key, known);
  return known;
}

async function tryOne(fault: Fault, sandbox: Sandbox): Promise<void> {
  if (!(await isSound(fault.tests, sandbox))) return;
  const verdict = await sandbox.try(fault, options.limit * 1_000);
  const by = verdict.kind === "failed" ? verdict.by : verdict.kind === "late" ? "the time limit" : "";
  results.set(fault, { found: verdict.kind !== "passed", by });
  const word = verdict.kind === "passed" ? "SURVIVED" : "found   ";
  say(`${word} ${placeOf(fault, sourceOf(fault))}: ${fault.breaks}${by === "" ? "" : ` [${by}]`}`);
}

async function work(queue: Fault[]): Promise<void> {
  const sandbox = new Sandbox();
  sandboxes.push(sandbox);
  for (let next = queue.shift(); next; next = queue.shift()) await tryOne(next, sandbox);
}

function report(): void {
  const survivors = faults.filter((fault) => results.of(fault)?.found === false);
  say(`\n${resultTable(faults, results)}\n`);
  for (const fault of survivors)
    say(`survived: ${placeOf(fault, sourceOf(fault))}: ${fault.breaks}${accepted(fault)}`);
  const untried = faults.filter((fault) => !results.of(fault)).length;
  if (untried > 0) say(`not tried: ${untried}`);
  process.exitCode = untried === 0 && meetsGoal(faults, results) ? 0 : 1;
}

function accepted({ accepted: why }: Fault): string {
  return why === undefined ? "" : ` (accepted: ${why})`;
}

const queue = faults.filter((fault) => options.only === undefined || results.of(fault)?.found !== true);
const removeAll = () => {
  for (const sandbox of sandboxes) sandbox.remove();
};
process.once("SIGINT", () => process.exit(130)).once("SIGTERM", () => process.exit(143));
process.once("exit", removeAll);
await Promise.all(Array.from({ length: Math.min(options.parallel, queue.length) }, () => work(queue)));
report();
