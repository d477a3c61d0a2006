/*
 * npm run evaluate -- [--candles FILE] [--seeds 1,2,3] [--half first|second] [--hours 8] [--ablate | --curve] [--plots DIR] [--json | --markdown]
 *
 * Two measurements. Labelled pumps and decoys are injected into real recorded candles; thresholds are chosen on the first half of the
 * days, the second half is what counts. And the simulated market, which knows what it did on purpose, is run for some hours.
 * Both score Flarewire and two plain rules: those as people set them, and at the threshold that gives them Flarewire's natural rate.
 */
import { parseArgs } from "node:util";
import { ablateCandles, type CandlePlan, evaluateCandles, traceCandles } from "./candle-evaluation.ts";
import { writePlots } from "./plots.ts";
import { loadMarket } from "./series.ts";
import { ablateSimulated, evaluateSimulated } from "./simulated-evaluation.ts";
import { type Evaluation, toMarkdown, toText } from "./tables.ts";

const { values } = parseArgs({
  options: {
    candles: { type: "string", default: "../shared/data/exchange-1m/2017-11-04_2017-11-14.csv.gz" },
    seeds: { type: "string" },
    seed: { type: "string" },
    half: { type: "string", default: "second" },
    hours: { type: "string", default: "8" },
    ablate: { type: "boolean", default: false },
    curve: { type: "boolean", default: false },
    plots: { type: "string" },
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

const plan: CandlePlan = { market: loadMarket(values.candles), half, seeds };
const simulatedPlans = seeds.map((seed) => ({ seed, hours }));
if (values.plots !== undefined) {
  for (const file of writePlots(values.plots, plan.market, seeds[0] ?? 1)) process.stdout.write(`${file}\n`);
} else {
  const result = values.ablate ? ablate() : values.curve ? curve() : evaluate();
  process.stdout.write(
    values.json ? `${JSON.stringify(result)}\n` : values.markdown ? toMarkdown(result) : toText(result),
  );
}

function evaluate(): Evaluation {
  const candleRows = evaluateCandles(plan);
  const { rows, canary } = evaluateSimulated(simulatedPlans);
  return { ...about(), candleRows, simulatedRows: rows, canary };
}

function ablate(): Evaluation {
  return {
    ...about(),
    candleRows: ablateCandles(plan),
    simulatedRows: ablateSimulated(simulatedPlans),
    canary: [],
  };
}

function curve(): Evaluation {
  return { ...about(), candleRows: traceCandles(plan), simulatedRows: [], canary: [] };
}

function about(): Pick<Evaluation, "candles" | "simulated"> {
  const file = values.candles.split("/").at(-1) ?? "";
  return { candles: { file, half: values.half, seeds }, simulated: { seeds, hours } };
}

function fail(message: string): never {
  process.stderr.write(`evaluate: ${message}\n`);
  process.exit(1);
}
