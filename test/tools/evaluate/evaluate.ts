/*
 * npm run evaluate -- [--recorded] [--simulated] [--wide] [--candles FILE] [--seeds 1,2,3]
 *                     [--half first|second] [--hours 24] [--windows 20] [--no-rules]
 *                     [--ablate | --curve | --forms | --fit] [--plots DIR]
 *                     [--pumps DIR] [--wallet-pool FILE] [--regulars] [--json | --markdown]
 *
 * Runs three measurements; --recorded, --simulated and --wide select some of them.
 *
 * - recorded: labeled pumps and decoys are injected into real recorded candles. Thresholds are
 *   chosen on the first half of the days, and the second half is scored.
 * - simulated: the simulated market, which knows its own pumps, runs for a day.
 * - wide: a market of busy and idle tokens rises as a whole.
 *
 * With --windows N, the engine sees the simulated chains as an aggregator reports them: counts of
 * the N pools of a chain with the highest volume.
 *
 * With --forms, the recorded minutes are scored as candles of BSC and of the exchange.
 *
 * With --fit, prints the weights of the candles' score that tell pumps from the rest best.
 *
 * With --pumps DIR, the detector is scored on real announced pumps, trade by trade.
 *
 * With --regulars, prints how often the canary is on for tokens that the same few wallets trade.
 *
 * With --wallet-pool FILE, on one real pool's trades with wallets.
 *
 * The first two score Flarewire and two plain rules, with their usual thresholds and with those
 * that fire as often as Flarewire.
 */
import { parseArgs } from "node:util";
import { ablateCandles, type CandlePlan, evaluateCandles, traceCandles } from "./candle-evaluation.ts";
import { fitText, fitWeights } from "./fit.ts";
import { evaluateForms, formsMarkdown } from "./forms.ts";
import { writePlots } from "./plots.ts";
import { loadPumps, runPump, scorePumps } from "./real-pumps.ts";
import { canaryOfRegulars, WALLETS } from "./regular-wallets.ts";
import { loadMarket } from "./series.ts";
import { ablateSimulated, evaluateSimulated } from "./simulated-evaluation.ts";
import { type Evaluation, toMarkdown, toText } from "./tables.ts";
import { readWalletPool, scoreWalletPool } from "./wallet-pool.ts";
import { evaluateWideMoves } from "./wide-moves.ts";

const { values } = parseArgs({
  options: {
    candles: { type: "string", default: "../shared/data/exchange-1m/2017-11-04_2017-11-14.csv.gz" },
    seeds: { type: "string" },
    seed: { type: "string" },
    half: { type: "string", default: "second" },
    hours: { type: "string", default: "24" },
    windows: { type: "string" },
    recorded: { type: "boolean", default: false },
    simulated: { type: "boolean", default: false },
    wide: { type: "boolean", default: false },
    "no-rules": { type: "boolean", default: false },
    ablate: { type: "boolean", default: false },
    curve: { type: "boolean", default: false },
    forms: { type: "boolean", default: false },
    fit: { type: "boolean", default: false },
    plots: { type: "string" },
    pumps: { type: "string" },
    "wallet-pool": { type: "string" },
    regulars: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    markdown: { type: "boolean", default: false },
  },
});

const seeds = (values.seeds ?? values.seed ?? "1,2,3").split(",").map(Number);
const hours = Number(values.hours);
const half = values.half;
if (seeds.some((seed) => !Number.isSafeInteger(seed)))
  fail(`--seeds takes whole numbers, not ${values.seeds}`);
if (!(hours > 0)) fail(`--hours takes a number above 0, not ${values.hours}`);
if (half !== "first" && half !== "second") fail(`--half is first or second, not ${half}`);

const choosesParts = values.recorded || values.simulated || values.wide;
const wants = (part: "recorded" | "simulated" | "wide") => !choosesParts || values[part];
const planOf = (): CandlePlan => ({ market: loadMarket(values.candles), half, seeds });
const listed = values.windows === undefined ? {} : { listed: Number(values.windows) };
if (listed.listed !== undefined && !(listed.listed >= 1))
  fail(`--windows takes a number of at least 1, not ${values.windows}`);
const simulatedPlans = seeds.map((seed) => ({ seed, hours, ...listed }));
if (values.pumps !== undefined) {
  const { pumps } = values;
  const figures = scorePumps(loadPumps(pumps).map((pump) => runPump(pumps, pump)));
  const lines = Object.entries(figures).map(([name, value]) => `${name}: ${Number(value.toFixed(3))}`);
  process.stdout.write(values.json ? `${JSON.stringify(figures)}\n` : `${lines.join("\n")}\n`);
} else if (values.regulars) {
  for (const row of seeds.flatMap((seed) => WALLETS.flatMap((wallets) => canaryOfRegulars(wallets, seed))))
    process.stdout.write(`${JSON.stringify(row)}\n`);
} else if (values["wallet-pool"] !== undefined) {
  const figures = scoreWalletPool(readWalletPool(values["wallet-pool"]));
  process.stdout.write(`${JSON.stringify(figures, null, values.json ? 0 : 2)}\n`);
} else if (values.plots !== undefined) {
  for (const file of writePlots(values.plots, planOf().market, seeds[0] ?? 1))
    process.stdout.write(`${file}\n`);
} else if (values.fit) {
  const fit = fitWeights(planOf());
  process.stdout.write(values.json ? `${JSON.stringify(fit)}\n` : fitText(fit));
} else if (values.forms) {
  const rows = evaluateForms(planOf());
  const { file } = about().candles;
  const title = `The same minutes as candles of each group (${file}, ${half} half of the days, seeds ${seeds.join(", ")}); minutes:`;
  process.stdout.write(values.json ? `${JSON.stringify(rows)}\n` : formsMarkdown(rows, title));
} else {
  const result = values.ablate ? ablate() : values.curve ? curve() : evaluate();
  process.stdout.write(
    values.json ? `${JSON.stringify(result)}\n` : values.markdown ? toMarkdown(result) : toText(result),
  );
}

function evaluate(): Evaluation {
  const rules = !values["no-rules"];
  const measured = wants("simulated") ? evaluateSimulated(simulatedPlans, rules) : undefined;
  return {
    ...about(),
    candleRows: wants("recorded") ? evaluateCandles(planOf(), rules) : [],
    simulatedRows: measured?.rows ?? [],
    canary: measured?.canary ?? [],
    measured,
    wideMoves: wants("wide") ? evaluateWideMoves(seeds) : undefined,
  };
}

function ablate(): Evaluation {
  return {
    ...about(),
    candleRows: wants("recorded") ? ablateCandles(planOf()) : [],
    simulatedRows: wants("simulated") ? ablateSimulated(simulatedPlans) : [],
    canary: [],
  };
}

function curve(): Evaluation {
  return { ...about(), candleRows: traceCandles(planOf()), simulatedRows: [], canary: [] };
}

function about(): Pick<Evaluation, "candles" | "simulated" | "measured" | "wideMoves"> {
  const file = values.candles.split("/").at(-1) ?? "";
  return {
    candles: { file, half: values.half, seeds },
    simulated: { seeds, hours },
    measured: undefined,
    wideMoves: undefined,
  };
}

function fail(message: string): never {
  process.stderr.write(`evaluate: ${message}\n`);
  process.exit(1);
}
