/*
 * node test/tools/evaluate/attacks.ts [--tries 300] [--seed 1]
 *
 * Searches at random for crowds of one person's wallets that start a flare in the free list. The
 * number of wallets, the sizes, the pace, the fee and the time until the sale vary. Prints the
 * crowds in the free list that sell within a minute, and a table by time.
 */
import { parseArgs } from "node:util";
import { playInSingleton } from "../../engine/real-markets/singleton-pool.ts";
import { type WashCrowd, washTrades } from "../../engine/real-markets/wash-crowd.ts";
import { createRandom } from "../../engine/trend-kit.ts";
import { markdownTable } from "./markdown-table.ts";

const MINUTES = 120;
/** Minutes after which a wallet sells, by class. */
const HOLDS = {
  "0 to 0.1": [0, 0.1],
  "0.1 to 1": [0.1, 1],
  "1 to 10": [1, 10],
  "10 to 15": [10, 15],
} as const;
type Hold = keyof typeof HOLDS;

const { values } = parseArgs({
  options: { tries: { type: "string", default: "300" }, seed: { type: "string", default: "1" } },
});
const random = createRandom(Number(values.seed));
const between = (low: number, high: number) => low * (high / low) ** random();

function anyCrowd(hold: Hold): WashCrowd {
  return {
    wallets: Math.round(between(5, 2_000)),
    buysPerMinute: Math.round(between(5, 150)),
    usd: between(0.3, 300),
    holdMinutes: HOLDS[hold],
    kept: random() < 0.5 ? 0 : between(0.001, 0.3),
    minutes: Math.round(between(5, 25)),
    fee: random() < 0.5 ? 0 : 0.0025,
    seed: Math.floor(random() * 1e9),
  };
}

function attack(hold: Hold) {
  const crowd = anyCrowd(hold);
  const { trades } = washTrades(crowd, MINUTES);
  return { crowd, ...playInSingleton(trades, MINUTES) };
}

const tries = Math.ceil(Number(values.tries) / 4);
const rows = (Object.keys(HOLDS) as Hold[]).map((hold) => {
  const played = Array.from({ length: tries }, () => attack(hold));
  const found = played.filter(({ free }) => free > 0);
  for (const { crowd, canaryAt, lastFreeAt } of HOLDS[hold][1] > 1 ? [] : found)
    process.stdout.write(`${JSON.stringify({ ...crowd, canaryAt, lastFreeAt })}\n`);
  const flares = played.filter((one) => one.flares > 0).length;
  const warned = found.filter(({ canaryAt }) => canaryAt > 0).length;
  return [hold, tries, flares, found.length, warned].map(String);
});
const head = ["minutes until they sell", "tries", "flares", "in the free list", "of these warned of"];
process.stdout.write(`${markdownTable(head, rows).join("\n")}\n`);
