// Paper trading: buys each token whose flare starts, with equal stakes, and sells when the flare
// finishes or after half an hour. Reads events as lines of JSON. Try it on a recorded day at full
// speed, then on a live market:
//
//   npm run --silent flarewire -- replay examples/data/2017-11-12.csv.gz --group bsc --events - \
//     | npx node examples/paper-trade.ts
//   npm run --silent flarewire -- tail http://127.0.0.1:8080 --channels flares.pro --json \
//     | npx node examples/paper-trade.ts
//
// It trades at the event's price, made worse by SLIPPAGE, and pays FEE per trade. Real markets may
// be worse: the price moves while an order is on its way, and a large order moves a thin market
// itself. One day proves nothing.

import { createInterface } from "node:readline";

const FEE = 0.0025;
const SLIPPAGE = 0.005;
const MAX_MS = 30 * 60_000;

type Flare = { id: string; token: { symbol: string; price: string } };
type Event = {
  name: string;
  channel: string;
  observed_at: string;
  data: { id?: string; flare?: Flare; set?: Partial<Flare>; cause?: string };
};
type Position = { symbol: string; boughtAt: string; paid: number; price: number };

const open = new Map<string, Position>();
const results: number[] = [];
let gross = 0;
let latest = "";

for await (const line of createInterface({ input: process.stdin })) {
  const event = read(line);
  if (event?.channel !== "flares.pro") continue;
  const { name, data } = event;
  latest = event.observed_at;
  const id = data.flare?.id ?? data.id ?? "";
  const position = open.get(id);
  const price = Number(data.flare?.token.price ?? data.set?.token?.price ?? position?.price);
  // With a filter, a flare "starts" again when it passes the threshold. Do not buy again.
  const isNew = data.cause !== "passed" && !open.has(id);
  if (name === "flare-started" && isNew && data.flare && price > 0) {
    open.set(id, { symbol: data.flare.token.symbol, boughtAt: latest, paid: price, price });
  } else if (position && price > 0) {
    position.price = price;
    if (name === "flare-finished") sell(id, data.cause ?? "finished");
  }
  for (const [old, { boughtAt }] of open)
    if (Date.parse(latest) - Date.parse(boughtAt) >= MAX_MS) sell(old, "time limit");
}

for (const id of [...open.keys()]) sell(id, "no more events: valued, not sold");
const sum = results.reduce((total, result) => total + result, 0);
const wins = results.filter((result) => result > 0).length;
console.log(
  `${results.length} trades, ${wins} won; of one stake, after costs ${percent(sum)} in total, before ${percent(gross)}`,
);
console.log(`costs: fee ${percent(FEE)} and slippage ${percent(SLIPPAGE)}, for each buy and each sale`);

function read(line: string): Event | undefined {
  try {
    return JSON.parse(line);
  } catch {
    console.error("skipped a line that is not JSON");
    return undefined;
  }
}

function sell(id: string, why: string): void {
  const position = open.get(id);
  if (!position) return;
  open.delete(id);
  const { symbol, boughtAt, paid, price } = position;
  const result = (price * (1 - SLIPPAGE) * (1 - FEE)) / (paid * (1 + SLIPPAGE) * (1 + FEE)) - 1;
  results.push(result);
  gross += price / paid - 1;
  // Remove control characters: token names are untrusted.
  const name = symbol.replace(/\p{C}/gu, "?").slice(0, 20);
  console.log(
    `${boughtAt} to ${latest}  ${name}  ${paid} to ${price}  ${percent(result)}  ${why.replace(/\p{C}/gu, "?")}`,
  );
}

function percent(part: number): string {
  return `${part > 0 ? "+" : ""}${(part * 100).toFixed(2)} %`;
}
