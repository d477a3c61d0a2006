/* npm run soak [-- --seeds 1000 --from 1 --hours 1 --kills 100]: what npm test does a few times, done often. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { runChaos } from "./chaos-run.ts";

const PROGRESS_EVERY = 100;

const values = readOptions();

/** The options as text; the process ends where one is not known. */
function readOptions() {
  try {
    return parseArgs({
      options: {
        seeds: { type: "string", default: "1000" },
        from: { type: "string", default: "1" },
        hours: { type: "string", default: "1" },
        kills: { type: "string", default: "100" },
      },
    }).values;
  } catch (error) {
    return refuse(`${error instanceof Error ? error.message : error}. Use --seeds, --from, --hours, --kills`);
  }
}

/** The option's value, within its bounds; else the process ends. */
function read(name: keyof typeof values, least: number, most: number): number {
  const value = Number(values[name]);
  if (value >= least && value <= most) return value;
  return refuse(`--${name} must be a number from ${least} to ${most}, not ${values[name]}`);
}

function refuse(why: string): never {
  process.stderr.write(`soak: ${why}\n`);
  process.exit(1);
}

const [seeds, from, hours, kills] = [
  read("seeds", 0, 1e6),
  read("from", 0, 1e6),
  read("hours", 0.01, 24),
  read("kills", 0, 10_000),
];
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

const isKilledWell = kills === 0 || kill(kills);
const isGood = failed.length === 0 && isKilledWell;
const chaos = failed.length === 0 ? "every client held what REST serves" : `seeds ${failed.join()} failed`;
const killed = kills === 0 ? "" : `; ${kills} kills: ${isKilledWell ? "passed" : "failed"}`;
process.stdout.write(`${isGood ? "passed" : "FAILED"} in ${seconds()} s: ${chaos}${killed}\n`);
// After a hundred seeds something, probably of the clients' HTTP pools, held the process for minutes.
process.exit(isGood ? 0 : 1);

/** Runs the scenario in which the process is killed; true when it passes. */
function kill(count: number): boolean {
  const cwd = fileURLToPath(new URL("../../", import.meta.url));
  const { status } = spawnSync("npx", ["vitest", "run", "test/scenarios/kill"], {
    cwd,
    env: { ...process.env, KILLS: `${count}` },
    stdio: ["ignore", "inherit", "inherit"],
  });
  return status === 0;
}
