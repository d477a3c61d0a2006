import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";
import { nodeVersionProblem } from "../../src/app/node-version.ts";
import { copyOfDependencies, copyOfSources, environmentOfNode, LOWEST_NODE } from "./copy-of-sources.ts";

const TOO_OLD = "20.19.6";
const lowest = environmentOfNode(LOWEST_NODE);
const tooOld = environmentOfNode(TOO_OLD);
const run = promisify(execFile);
const INSTALL = ["install", "--omit=dev", "--no-audit", "--no-fund", "--prefer-offline"];

const folder = await mkdtemp(join(tmpdir(), "flarewire-install-"));
afterAll(() => rm(folder, { recursive: true, force: true }));
let copied: string | undefined;
/** Returns a copy of the clone, without dependencies until a test installs them. */
const clone = () => (copied ??= copyOfSources(folder));

test.skipIf(!tooOld)(
  `the prepare script of a clone fails on Node ${TOO_OLD} with exit code 1 and names the required version`,
  async () => {
    const cwd = clone();
    const { scripts } = JSON.parse(await readFile(join(cwd, "package.json"), "utf8"));
    const [program = "", ...args] = scripts.prepare.split(" ");
    await expect(run(program, args, { cwd, env: tooOld })).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        `flarewire needs Node >=22.18, and this is v${TOO_OLD}: update Node, or run npm ci with development dependencies`,
      ),
    });
  },
);

test.skipIf(!lowest)(
  `a clone without development dependencies installs and serves on Node ${LOWEST_NODE}, and reports that the dashboard is not built`,
  { timeout: 600_000 },
  async ({ onTestFinished }) => {
    const cwd = clone();
    copyOfDependencies(cwd);
    const lock = await readFile(join(cwd, "package-lock.json"), "utf8");
    const { stderr } = await run("npm", INSTALL, { cwd, env: lowest });
    // `npm ci` requires that the lock file is unchanged.
    expect(await readFile(join(cwd, "package-lock.json"), "utf8")).toBe(lock);
    expect(stderr).toContain("because vite, a development dependency, is missing");
    const { scripts } = JSON.parse(await readFile(join(cwd, "package.json"), "utf8"));
    const [, program = "", ...args] = scripts.start.split(" ");
    const server = spawn(program, [...args, "--port", "0", "--data", "none", "--warmup", "0"], {
      cwd,
      env: lowest,
      stdio: ["ignore", "pipe", "pipe"],
    });
    onTestFinished(() => void server.kill("SIGTERM"));
    let logged = "";
    server.stderr.on("data", (chunk: Buffer) => (logged += chunk));
    let url = "";
    for await (const line of createInterface({ input: server.stdout })) {
      url = /serves (http:\S+)/.exec(line)?.[1] ?? "";
      if (url !== "") break;
    }
    server.stdout.resume();
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    const page = await fetch(`${url}/`);
    expect(page.status).toBe(404);
    expect(await page.text()).toContain("npm run pages builds it, with development dependencies");
    expect(logged.split("the dashboard and the widget are not built: run npm run pages")).toHaveLength(2);
    const ended = once(server, "exit");
    server.kill("SIGTERM");
    expect(await ended).toEqual([0, null]);
  },
);

/** A program that stores a flare, its outcome and a past minute, and reads them. */
const STORE_ALL = `
import { openMinuteStore, openSqliteHistoryStore } from "./src/extensions/history/index.ts";
const limits = { maxAgeMs: 1e9, maxBytes: 1e6 };
const store = openSqliteHistoryStore(limits);
const flare = { id: "a", token: { address: "0x1", symbol: "A" }, started_trending_at: "2026-01-01T00:00:00Z" };
const batch = { nowMs: 1, starts: [{ id: "a", at: flare.started_trending_at, why: null }], outcomes: [] };
store.commit({ ...batch, cursor: "e-1", finishes: [{ flare, why: null, cause: "faded", outcome: null }] });
store.commit({ ...batch, cursor: "e-2", finishes: [], outcomes: [{ id: "a", outcome: { final: true } }] });
const state = { firstMs: 0, lastMs: 0, observedAtMs: 0, aliveMs: 0, sourceState: "live", cursor: "e-1" };
const minutes = openMinuteStore(limits);
minutes.insert({ state, body: new Uint8Array(1), keyframe: new Uint8Array(1) });
const known = store.find("a", 1) !== undefined && store.stillHas({ knownMs: 1 });
console.log(store.size.flares, minutes.size.minutes, known);
`;

test.skipIf(!lowest)(`flares and past minutes are stored on Node ${LOWEST_NODE}`, async () => {
  const cwd = fileURLToPath(new URL("../..", import.meta.url));
  const program = ["--input-type=module", "--eval", STORE_ALL];
  const { stdout } = await run("node", program, { cwd, env: lowest });
  expect(stdout).toBe("1 1 true\n");
});

test("the program checks the Node version of package.json, and OPERATING.md names no other", async () => {
  const [major = 0, minor = 0] = LOWEST_NODE.split(".").map(Number);
  expect(nodeVersionProblem(`${major}.${minor}.0`)).toBeUndefined();
  expect(nodeVersionProblem(`${major + 2}.0.0`)).toBeUndefined();
  expect(nodeVersionProblem(`${major}.${minor - 1}.9`)).toMatch(/needs Node >=22\.18, and this is 22\.17\.9/);
  expect(nodeVersionProblem(`${major - 2}.99.0`)).toBeDefined();
  const text = await readFile(new URL("../../src/gateway/OPERATING.md", import.meta.url), "utf8");
  expect(new Set(text.match(/Node \d[\d.]*\d/g))).toEqual(new Set([`Node ${major}.${minor}`]));
});
