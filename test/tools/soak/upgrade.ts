import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
/** The first checkpoint that follows events is stored after half a minute. */
const CHECKPOINT_MS = 35_000;
/** Every twentieth cursor is resumed, because gateways limit the requests of an address. */
const SAMPLED = 20;
/** The same path for both versions, because it determines the file names in the data directory. */
const RECORDING = join(ROOT, "examples/data/2017-11-12.csv.gz");
const MARKET = [
  "--file",
  RECORDING,
  "--group",
  "bsc",
  "--speed",
  "300",
  "--warmup",
  "0",
  "--drain",
  "0",
  "--port",
  "0",
];

interface Page {
  readonly status: number;
  readonly cursors: readonly string[];
  readonly more: boolean;
}

/**
 * Runs a gateway of an earlier commit and copies its data directory. Then starts this version on
 * the copy and the earlier version on the original. Returns the violated promises, or `undefined`
 * if this clone does not have the commit.
 */
export async function runUpgrade(commit: string): Promise<readonly string[] | undefined> {
  const directory = mkdtempSync(join(tmpdir(), "flarewire-upgrade-"));
  const earlier = join(directory, "earlier");
  const git = (...args: string[]) => spawnSync("git", args, { cwd: ROOT }).status === 0;
  if (!git("worktree", "add", "--detach", earlier, commit)) return undefined;
  try {
    for (const name of ["node_modules", "dist"]) symlinkSync(join(ROOT, name), join(earlier, name));
    return await compare(earlier, join(directory, "data"), join(directory, "copy"));
  } finally {
    git("worktree", "remove", "--force", earlier);
    rmSync(directory, { recursive: true, force: true });
  }
}

async function compare(earlier: string, original: string, copy: string): Promise<readonly string[]> {
  const before = await serve(earlier, original);
  await wait(CHECKPOINT_MS);
  const shared = await allCursors(before.url);
  await before.stop();
  cpSync(original, copy, { recursive: true });
  const gateways = [await serve(ROOT, copy), await serve(earlier, original)] as const;
  try {
    const problems: string[] = [];
    for (const { url } of gateways) {
      for (const [at, cursor] of shared.entries()) {
        if (at % SAMPLED !== 0) continue;
        const { status, cursors } = await pageAfter(url, cursor);
        const next = shared[at + 1];
        if (status !== 200 || (next !== undefined && cursors[0] !== next))
          problems.push(`${url} does not resume ${cursor}: status ${status}, next event ${cursors[0]}`);
      }
    }
    if (problems.length > 0) return problems;
    const own = await Promise.all(gateways.map(({ url }) => newCursors(url, shared.at(-1) ?? "")));
    for (const [at, { url }] of gateways.entries()) {
      const { status } = await pageAfter(url, own[1 - at]?.at(-1) ?? "");
      if (status !== 410) problems.push(`${url} accepts a cursor of the other gateway: status ${status}`);
    }
    return shared.length > 100 ? problems : [`only ${shared.length} events before the upgrade`];
  } finally {
    await Promise.all(gateways.map((gateway) => gateway.stop()));
  }
}

/** Starts a gateway from the sources in this directory. */
async function serve(sources: string, data: string) {
  const args = ["--conditions=flarewire-source", "src/main.ts", "serve", ...MARKET, "--data", data];
  const child = spawn(process.execPath, args, { cwd: sources, stdio: ["ignore", "pipe", "inherit"] });
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  const url = /http:\/\/[\d.]+:\d+/.exec(String(line))?.[0];
  if (url === undefined) throw new Error(`the gateway printed no address: ${line}`);
  const stop = async () => {
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    await exited;
  };
  return { url, stop };
}

async function pageAfter(url: string, cursor: string): Promise<Page> {
  const response = await fetch(`${url}/api/v1/events?limit=1000&wait=20&after=${cursor}`);
  const text = await response.text();
  const { events = [], more = false } = response.status === 200 ? JSON.parse(text) : {};
  return { status: response.status, cursors: events.map(({ cursor }: { cursor: string }) => cursor), more };
}

async function allCursors(url: string): Promise<readonly string[]> {
  let page = await pageAfter(url, "oldest");
  const cursors = [...page.cursors];
  while (page.more) {
    page = await pageAfter(url, cursors.at(-1) ?? "oldest");
    cursors.push(...page.cursors);
  }
  return cursors;
}

/** Returns the cursors of events after this one, from the server's current run. */
async function newCursors(url: string, after: string): Promise<readonly string[]> {
  const { status, cursors } = await pageAfter(url, after);
  if (cursors.length === 0) throw new Error(`${url} sent no event after ${after}: status ${status}`);
  return cursors;
}
