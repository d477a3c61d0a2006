import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { emptyText } from "../../../../src/app/cli/backtest/empty-channels.ts";
import { IS_SOAK } from "../../../support/law-runs.ts";
import { writePumpedMarket } from "../../../support/world/pumped-market.ts";
import { runInProcess } from "../run-in-process.ts";
import { runCli } from "../spawn-cli.ts";

const DAY = "examples/data/2017-11-12.csv.gz";
let directory = "";
/** A recording with a flare every twenty minutes. */
let market = "";

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "flarewire-backtest-"));
  market = writePumpedMarket(join(directory, "market.csv"), 2);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Writes a bot with this body, which may use `connect`, `buy` and `sell`. */
function botOf(name: string, body: string): string {
  const path = join(directory, `${name}.ts`);
  writeFileSync(path, `export const bot = async ({ connect, buy, sell }: any) => {\n${body}\n};\n`);
  return path;
}

async function play(bot: string, ...more: readonly string[]) {
  const { code, stdout, stderr } = await runInProcess([
    ...["backtest", market, "--group", "bsc", "--bot", bot, "--json", "-"],
    ...more,
  ]);
  return { code, stderr, stdout, result: stdout === "" ? undefined : JSON.parse(stdout) };
}

/** The market's first flares. One of them finishes. */
const MORNING = ["--from", "2017-11-12T00:50:00Z", "--to", "2017-11-12T01:30:00Z"];

const QUARTER = "2017-11-12T00:15:00Z";

const EAGER = `
  for await (const event of connect({ channels: ["flares.pro"] })) {
    if (event.name !== "flare-started" && event.name !== "flare-finished") continue;
    const { token } = event.data.flare;
    if (event.name === "flare-started") buy({ group: "bsc", token: token.address });
    else sell({ group: "bsc", token: token.address }, event.cursor);
  }`;

/** Plays the day, or its first hours, to the documented bot. */
async function playDay(...more: readonly string[]) {
  const json = join(directory, "day.json");
  const bot = ["--group", "bsc", "--bot", "examples/paper-trade.ts", "--json", json];
  const { code, stdout } = await runInProcess(["backtest", DAY, ...bot, ...more]);
  return { code, stdout, result: JSON.parse(readFileSync(json, "utf8")) };
}

test.runIf(IS_SOAK)(
  "the documented bot and day give the documented result, and the record has all six flares and their controls",
  async () => {
    const { code, stdout, result } = await playDay();
    expect(code).toBe(0);
    const [summary = ""] = /^\d+ trades, .*$/m.exec(stdout) ?? [];
    const [control = ""] = /^control: .*$/m.exec(stdout) ?? [];
    expect(summary).not.toBe("");
    const document = readFileSync("examples/README.md", "utf8");
    expect([document.includes(summary), document.includes(control)]).toEqual([true, true]);
    const { record } = result;
    expect(record.flares).toBe(6);
    expect(stdout).toContain(
      "\n6 flares with an outcome, 0 possible rugs; 1 left out: outcome not final at the end\n",
    );
    expect(record.after.map(({ minutes }: { minutes: number }) => minutes)).toEqual([5, 15, 60]);
    // For flares early in the day, fewer control moments exist.
    expect(record.after.map(({ n }: { n: number }) => n)).toEqual([6, 6, 6]);
    expect(record.after.map(({ control }: { control: { n: number } }) => control.n)).toEqual([31, 31, 31]);
  },
);

test("the first hours of the documented day give the documented bot one trade, and the record one flare", async () => {
  const { code, stdout, result } = await playDay("--to", "2017-11-12T03:20:00Z");
  expect(code).toBe(0);
  expect(stdout.replaceAll(/ +/g, " ")).toContain(
    "2017-11-12T02:17 2017-11-12T02:37 BTC_BCC 0.26086138 to 0.245508 −7.29 % reversed\n",
  );
  expect(stdout).toContain(
    "1 trade, 0 won: mean −7.29 %, median −7.29 %, total −7.29 % of one stake (−5.89 % before costs)\n",
  );
  expect(result.record.flares).toBe(1);
  expect(result.record.after.map(({ n }: { n: number }) => n)).toEqual([1, 1, 1]);
});

test("the record says that the outcome of a flare is not final when the recording ends", async () => {
  const span = ["--group", "bsc", "--to", "2017-11-12T08:40:00Z"];
  const { code, stdout } = await runInProcess(["backtest", DAY, ...span]);
  expect([code, ...stdout.split("\n").slice(0, 2)]).toEqual([
    0,
    "Bought at each start and sold at its end, with 0.25 % fee a side and 0.5 % slippage: no verdict, because 2 is too few (needs 30).",
    "2 flares with an outcome, 0 possible rugs; 1 left out: outcome not final at the end",
  ]);
});

test("event time waits for the bot: slow, listening, cautious and changing bots trade like the fast one, also in another process", async () => {
  const slow = `
  for await (const event of connect({ channels: ["flares.pro"] })) {
    if (event.name !== "flare-started" && event.name !== "flare-finished") continue;
    await new Promise((resolve) => setTimeout(resolve, 20));
    const { token } = event.data.flare;
    if (event.name === "flare-started") buy({ group: "bsc", token: token.address });
    else sell({ group: "bsc", token: token.address }, event.cursor);
  }`;
  const listening = `
  const stream = connect({ channels: ["flares.*"] });
  const named = (event) => ({ group: "bsc", token: event.data.flare.token.address });
  stream.on("flare-started", async (event) => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    if (event.channel === "flares.pro") buy(named(event));
  });
  stream.on("flare-finished", async (event) => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    if (event.channel === "flares.pro") sell(named(event), event.cursor);
  });`;
  const changing = `
  const stream = connect({ channels: ["newest.bsc"] });
  const named = (event) => ({ group: "bsc", token: event.data.flare.token.address });
  const removed = () => { throw new Error("off() did not remove it"); };
  for (const add of ["on", "once"]) stream[add]("flare-started", removed);
  stream.off("flare-started", removed);
  stream.once("reset", async () => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    stream.update({ channels: ["flares.pro"] });
  });
  stream.on("flare-started", async (event) => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    buy(named(event));
  });
  stream.once("flare-finished", (event) => sell(named(event), event.cursor));`;
  const careful = `
  const other = connect({ channels: ["charts.bsc"] });
  other.on("event", () => {});
  const stream = connect({ channels: ["flares.pro"] });
  for await (const event of stream) {
    if (event.name !== "flare-started" && event.name !== "flare-finished") continue;
    if (stream.freshness.ageMs > 1_000) continue;
    const { token } = event.data.flare;
    if (event.name === "flare-started") buy({ group: "bsc", token: token.address });
    else sell({ group: "bsc", token: token.address }, event.cursor);
  }`;
  const [fast, ...others] = await Promise.all(
    [EAGER, slow, listening, careful, changing].map((body, at) =>
      play(botOf(`lockstep-${at}`, body), ...MORNING),
    ),
  );
  expect(fast?.result.trades.length).toBe(2);
  const eager = ["--bot", join(directory, "lockstep-0.ts")];
  const again = await runCli(["backtest", market, "--group", "bsc", ...eager, "--json", "-", ...MORNING]);
  expect([again.code, again.stdout]).toEqual([0, fast?.stdout]);
  expect(others.map(({ result }) => result)).toEqual(others.map(() => fast?.result));
});

test("an order fills after its time, and fees and slippage reduce its result", async () => {
  const { result } = await play(botOf("fills", EAGER), ...MORNING, "--fee", "1", "--slippage", "2");
  expect(result.costs).toEqual({ fee: 0.01, slippage: 0.02 });
  for (const trade of result.trades) {
    expect(Date.parse(trade.bought_at)).toBeGreaterThan(Date.parse(trade.ordered_at));
    const paid = Number(trade.bought) * 1.02 * 1.01;
    expect(trade.result).toBeCloseTo((Number(trade.sold) * 0.98 * 0.99) / paid - 1, 5);
  }
});

test("the bot starts at --from with the lists of that time, and --to ends the recording", async () => {
  const seen = join(directory, "seen");
  const path = botOf(
    "span",
    `let [first, last] = ["", ""];
  for await (const event of connect()) {
    if (event.name === "reset") first = JSON.stringify(event.view?.charts?.bsc?.length);
    else last = event.observed_at;
  }
  process.getBuiltinModule("fs").writeFileSync(${JSON.stringify(seen)}, first + " " + last);`,
  );
  const span = ["--from", "2017-11-12T00:30:00Z", "--to", "2017-11-12T00:45:00Z"];
  const { code, stderr } = await play(path, ...span);
  expect([code, stderr, readFileSync(seen, "utf8")]).toEqual([0, "", "3 2017-11-12T00:45:00.000Z"]);
});

test("an error in a bot, or in its listener, ends the backtest at once", async () => {
  for (const [name, reason, body] of [
    ["throws", "no money", 'for await (const event of stream) throw new Error("no money");'],
    ["listener", "no luck", 'stream.on("event", async () => { throw new Error("no luck"); });'],
  ] as const) {
    const bot = botOf(name, `const stream = globalThis.ofFailedBot = connect(); ${body}`);
    const { code, stderr } = await runInProcess(["backtest", DAY, "--bot", bot]);
    const failed = new RegExp(`^flarewire backtest: the bot failed: Error: ${reason}\n.*${name}\\.ts`);
    expect([code, stderr]).toEqual([1, expect.stringMatching(failed)]);
    // The day has 3,607 events.
    expect(Reflect.get(globalThis, "ofFailedBot")).toMatchObject({
      cursor: expect.stringMatching(/^backtest-\d$/),
    });
  }
  Reflect.deleteProperty(globalThis, "ofFailedBot");
});

test("a filter by liquidity that a recording of candles cannot meet is rejected, instead of no trades", async () => {
  const path = botOf("filter", "connect({ channels: ['flares.pro'], filter: { min_liquidity: 10_000 } });");
  const { code, stdout, stderr } = await runInProcess(["backtest", DAY, "--group", "bsc", "--bot", path]);
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toContain(
    "the bot's filter has min_liquidity, but the recording has no liquidity, so nothing would pass",
  );
});

test("a bot that filters by liquidity trades on a recording with pools, and thousands of polls do not stop it", async () => {
  const path = botOf(
    "pools",
    `for await (const event of connect({ channels: ["flares.pro"], filter: { min_liquidity: 10_000 } })) {
    const { name, data } = event;
    if (name === "flare-started") buy({ group: "bsc", token: data.flare.token.address });
    else if (name === "flare-finished") sell({ group: "bsc", token: data.flare.token.address }, data.cause);
  }`,
  );
  const pools = "examples/data/simulated-pools.ndjson.gz";
  const { code, stdout } = await runInProcess(["backtest", pools, "--bot", path, "--json", "-"]);
  const { trades, record } = JSON.parse(stdout);
  expect(code).toBe(0);
  expect(trades.length).toBeGreaterThan(0);
  expect(record.trades.n + record.trades.unknown).toBe(record.flares);
});

test.each([
  [
    "a candle file's pairs can be assigned to the bot's group",
    { followed: ["flares.pro", "charts.exchange"], groups: ["exchange"], format: "csv" },
    "the bot's flares.pro stayed empty: the recording has no market of bsc, only of exchange; add --group bsc to assign the file's pairs to bsc",
  ],
  [
    "other recordings have channels of their own group",
    { followed: ["flares.exchange.*", "newest.bsc"], groups: ["bsc"], format: "ndjson" },
    "the bot's flares.exchange.* stayed empty: the recording has no market of exchange, only of bsc; follow channels of bsc, such as flares.pro",
  ],
  [
    "only the first empty group is named",
    { followed: ["flares.matic.pro", "flares.avalanche.pro"], groups: ["bsc"], format: "csv" },
    "the bot's flares.matic.pro stayed empty: the recording has no market of matic, only of bsc; add --group matic to assign the file's pairs to matic",
  ],
  [
    "without a bot, the record is empty",
    { followed: [], groups: ["matic"], format: "ndjson" },
    "the record stayed empty: the recording has no market of bsc, only of matic; the record counts only flares of bsc",
  ],
  ["a quiet market gets no hint", { followed: ["flares.*"], groups: ["bsc"], format: "csv" }, undefined],
  ["patterns and status get no hint", { followed: ["*", "status"], groups: ["exchange", "bsc"] }, undefined],
] as const)("the hint about channels that stay empty: %s", (_what, played, text) => {
  expect(emptyText({ flares: 0, format: "csv", ...played })).toBe(text);
});

test("a program that never finishes loading is rejected, and a run without flares prints a hint", async () => {
  const endless = join(directory, "endless.mjs");
  writeFileSync(endless, "export const late = await new Promise((resolve) => setTimeout(resolve, 1e9));");
  const [loading, none] = await Promise.all([
    runCli(["backtest", DAY, "--bot", endless]),
    runInProcess(["backtest", market, "--bot", botOf("empty", EAGER), "--json", "-", "--to", QUARTER]),
  ]);
  expect([loading.code, loading.stderr]).toEqual([1, expect.stringContaining("does not finish loading")]);
  expect([none.code, none.stderr]).toEqual([0, expect.stringContaining("the bot's flares.pro stayed empty")]);
});

test("a program that exports no bot or connects by itself is rejected with the fix; without a bot, it does not run", async () => {
  const ran = join(directory, "ran");
  const write = `import { writeFileSync } from "node:fs"; writeFileSync(${JSON.stringify(ran)}, "");\n`;
  const move = "put its code into export const bot = async ({ connect, buy, sell }) => { … }";
  const text = (name: string, source: string) => {
    const path = join(directory, name);
    writeFileSync(path, source);
    return path;
  };
  const sdk = pathToFileURL("src/clients/sdk/index.ts").href;
  for (const [path, wrong] of [
    ["examples/bot.ts", "this one exports none"],
    [text("program.mjs", write), "this one exports none"],
    [text("other.mjs", "export const robot = () => {};\n"), "this one exports none"],
    [
      text("own.mjs", `import { connect } from "${sdk}"; export const own = connect("backtest");\n`),
      "this one opens a connection of its own",
    ],
  ] as const) {
    const { code, stderr } = await runInProcess(["backtest", DAY, "--bot", path]);
    expect([code, stderr]).toEqual([1, expect.stringContaining(`; ${wrong}: ${move}`)]);
    expect(stderr).toContain(`--bot is "${path}"; expected a module that exports a function named bot`);
    expect(stderr).not.toContain('address "');
  }
  expect(existsSync(ran)).toBe(false);
});

test("a bot in a CommonJS project is rejected with the fix, a new name, and runs under it", async () => {
  const project = join(directory, "commonjs");
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), '{ "type": "commonjs" }');
  const text = "export const bot = async () => {};\n";
  for (const [name, start] of [
    ["exports.ts", ""],
    ["imports.ts", 'import "node:fs";\n'],
    ["renamed.mts", ""],
  ] as const)
    writeFileSync(join(project, name), start + text);
  for (const name of ["exports.ts", "imports.ts"]) {
    const { code, stderr } = await runInProcess(["backtest", DAY, "--bot", join(project, name)]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("rename it to end in .mts")]);
  }
  const renamed = ["--bot", join(project, "renamed.mts"), "--group", "bsc", "--to", "2017-11-12T00:10:00Z"];
  const { code, stderr } = await runInProcess(["backtest", DAY, ...renamed]);
  expect([code, stderr]).toEqual([0, expect.anything()]);
});

test.each([
  ["--bot", "missing.ts", '--bot is "missing.ts"; expected a module that can be loaded'],
  ["--fee", "x", '--fee is "x"; expected a number from 0 to below 100'],
  ["--to", "2017-02-30T08:00Z", "expected a time in UTC like 2017-11-12T08:00:00Z"],
  ["--from", "2017-11-12T08:00:00Z", "expected --bot too, because the record counts all flares"],
  ["--from", "noon", '--from is "noon"; expected a time in UTC like 2017-11-12T08:00:00Z'],
])("%s %s is rejected", async (flag, value, message) => {
  const { code, stderr } = await runInProcess(["backtest", DAY, flag, value]);
  expect([code, stderr.includes(message)]).toEqual([1, true]);
});
