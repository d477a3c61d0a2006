import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  BUN,
  type Contender,
  type Contestant,
  FASTIFY_WEBSOCKET,
  gateway,
  measure,
  prepare,
} from "../harness/contender.ts";
import {
  clientRow,
  costRows,
  type Effort,
  enterAll,
  leaveAll,
  ratioRow,
  runField,
} from "../harness/field.ts";
import { makeMarket } from "../harness/make-market.ts";
import { type MarketFile, writeMarket } from "../harness/market-file.ts";
import { spreadOf } from "../harness/spread.ts";
import type { Row } from "../report.ts";
import { differentShapes, typicalList, watchLists } from "./watch-lists.ts";

/** Batches per round for clients of the whole market, and for clients of a tenth of it. */
const BATCHES = 10;
const BATCHES_OF_LISTS = 40;
const SECOND_US = 1_000_000;

/**
 * Calls `use` with that many minutes of the simulated market, and with the file from which the
 * servers read them.
 */
export async function withMarket<T>(
  minutes: number,
  use: (market: MarketFile, path: string) => Promise<T>,
): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), "flarewire-market-"));
  try {
    const market = makeMarket(minutes);
    const path = join(directory, "market.json");
    writeMarket(path, market);
    return await use(market, path);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** How long, and in how many turns, the delay is measured at the market's own pace. */
interface Pace {
  readonly turns: number;
  readonly seconds: number;
}

/**
 * Sends the simulated market's batches to all clients. Measures the cost of an event, and its delay
 * with one batch a second.
 */
export async function benchMarket(
  path: string,
  clients: number,
  effort: Effort,
  pace: Pace,
  peers: readonly Contender[] = [BUN, FASTIFY_WEBSOCKET],
): Promise<Row[]> {
  const contestants = await enterAll([gateway(), ...peers], clients);
  const title = `the market to ${clients.toLocaleString("en-US")}`;
  try {
    const results = await runField(
      contestants,
      [{ name: title, load: { market: path }, batches: BATCHES }],
      effort,
    );
    const ratios = peers.flatMap(({ name }) => ratioRow(results, title, ["flarewire", name]));
    const delays = await delayRows(contestants, path, title, pace);
    return [...costRows(results), ...ratios, ...delays, clientRow(results, title)];
  } finally {
    await leaveAll(contestants);
  }
}

/** Measures the delay from just before the append to the receipt, over all deliveries of a turn. */
async function delayRows(
  contestants: readonly Contestant[],
  path: string,
  title: string,
  { turns, seconds }: Pace,
): Promise<Row[]> {
  const p99s = new Map<string, number[]>(contestants.map(({ name }) => [name, []]));
  for (const contestant of contestants) await prepare(contestant, { market: path });
  for (let turn = 0; turn < turns; turn += 1) {
    for (const contestant of contestants) {
      const { p99Us } = await measure(contestant, { ms: seconds * 1_000 - 500, everyUs: SECOND_US });
      p99s.get(contestant.name)?.push(p99Us / 1_000);
    }
  }
  const ours = p99s.get("flarewire") ?? [];
  return [...p99s].flatMap(([name, values]) => {
    const { median, spreadPct } = spreadOf(values);
    const row: Row = {
      ...{ what: `${title} at ×1, p99 from append to receipt: ${name}`, value: median, unit: "ms" },
      aim: `±${spreadPct.toFixed(0)} %`,
    };
    if (name === "flarewire") return [row];
    const ratio = spreadOf(values.map((value, turn) => (ours[turn] ?? Number.NaN) / value));
    const aim = `${name === "bun" ? "≤ 1.1, " : ""}±${ratio.spreadPct.toFixed(0)} %`;
    return [row, { what: `${title} at ×1, p99: flarewire of ${name}`, value: ratio.median, unit: "×", aim }];
  });
}

/**
 * Measures the cost of different sessions: the same market to clients with 1, 100 and as many
 * shapes as clients, and one watch-list against a thousand.
 */
export async function benchShapes(
  market: MarketFile,
  path: string,
  clients: number,
  effort: Effort,
): Promise<Row[]> {
  const named = (name: string, paths: readonly string[]): Contender => ({ ...gateway(paths), name });
  const count = (many: number) => many.toLocaleString("en-US");
  const lists = Math.min(1_000, clients);
  const all = watchLists(market, lists);
  const title = `the market to ${count(clients)}`;
  const run = async (contenders: readonly Contender[], batches: number, aims: readonly number[] = []) => {
    const contestants = await enterAll(contenders, clients);
    try {
      const results = await runField(contestants, [{ name: title, load: { market: path }, batches }], effort);
      const [first, ...others] = contestants.map(({ name }) => name);
      const ratios = others.flatMap((name, at) => ratioRow(results, title, [name, first ?? ""], aims[at]));
      return [...costRows(results), ...ratios, clientRow(results, title)];
    } finally {
      await leaveAll(contestants);
    }
  };
  const shapes = [1, 100, clients].map((many) =>
    named(many === 1 ? "1 shape" : `${count(many)} shapes`, differentShapes(many)),
  );
  const one = [typicalList(market, all, BATCHES_OF_LISTS)];
  const watched = [named("1 watch-list", one), named(`${count(lists)} watch-lists`, all)];
  return [...(await run(shapes, BATCHES)), ...(await run(watched, BATCHES_OF_LISTS, [1.3]))];
}
