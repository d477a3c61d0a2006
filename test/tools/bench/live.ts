import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ReadyResponse } from "../../../src/gateway/http/rest/responses.ts";
import { LiveStart } from "../../scenarios/live-start.ts";
import { LiveWorld, WORLD_CHAINS, WORLD_PARTS } from "../../scenarios/live-world.ts";
import { cpuMicros, peakRssBytes } from "./harness/process-cost.ts";
import type { Row } from "./report.ts";

/** Transactions and pools as on busy chains. */
const DENSITY = {
  bsc: { pools: 200, swaps: 50, pairs: 6, others: 70 },
  polygon: { pools: 100, swaps: 25, pairs: 6, others: 40 },
  avalanche: { pools: 60, swaps: 15, pairs: 6, others: 20 },
} as const;

/** The exchanges send 300 trades a second while the cost is measured. */
const TRADES_EACH = 30;
const TRADE_EVERY_MS = 100;

/**
 * Measures the start of a live market against stand-ins for all services, and its cost while live:
 * requests per minute to each endpoint, and the share of a core. The stand-ins run in this process,
 * the gateway in another.
 */
export async function benchLive(minutes: number): Promise<Row[]> {
  const data = mkdtempSync(join(tmpdir(), "flarewire-live-"));
  let trading: NodeJS.Timeout | undefined;
  try {
    await using world = await LiveWorld.open({ density: DENSITY, markets: 100 });
    await using first = await LiveStart.run(world, data);
    const rows = startRows(first, "first start", "≤ 30");
    const pid = first.server.child.pid ?? 0;
    trading = setInterval(tradeInTurn(world), TRADE_EVERY_MS);
    const before = { cpu: cpuMicros(pid), asked: countsOf(world) };
    await sleep(minutes * 60_000);
    const share = (cpuMicros(pid) - before.cpu) / (minutes * 60e6);
    rows.push({ what: "processor while live", value: share * 100, unit: "% of a core", aim: "told" });
    rows.push({ what: "most memory", value: peakRssBytes(pid) / 2 ** 20, unit: "MiB", aim: "told" });
    const asked = countsOf(world);
    for (const [name, count] of asked) {
      const perMinute = (count - (before.asked.get(name) ?? 0)) / minutes;
      const aim = name === "aggregator" ? "≤ 30" : "≤ 2,000";
      rows.push({ what: `requests to ${name}`, value: perMinute, unit: "a minute", aim });
    }
    rows.push(...(await lagRows(first.url)));
    for (const name of WORLD_CHAINS) {
      const refused = world.endpointsOf(name).reduce((sum, one) => sum + one.refused, 0);
      rows.push({ what: `refused as too many by ${name}`, value: refused, unit: "requests", aim: "0" });
    }
    await first.stop();
    await using second = await LiveStart.run(world, data);
    rows.push(...startRows(second, "restart", "≤ 10"));
    return rows;
  } finally {
    clearInterval(trading);
    rmSync(data, { recursive: true, force: true });
  }
}

/** Returns a function that sends a trade of each of the next pairs whose trades are followed. */
function tradeInTurn({ exchanges }: LiveWorld): () => void {
  let turn = 0;
  return () => {
    const { traded } = exchanges;
    for (let left = Math.min(TRADES_EACH, traded.length); left > 0; left--) {
      const next = traded[turn++ % traded.length];
      if (next) exchanges.deliver(...exchanges.trade(next.venue, next.pair));
    }
  };
}

/** Returns how far the head lags, by stage: the server's own share is `judged` and `sent`. */
async function lagRows(url: string): Promise<Row[]> {
  const { lag = [] } = (await (await fetch(`${url}/readyz`)).json()) as ReadyResponse;
  return lag.flatMap(({ stage, part, p50_ms, p99_ms }) => {
    const what = part === undefined ? `head lag: ${stage}` : `head lag: ${stage} ${part}`;
    const aim = part === undefined ? "≤ 150" : "told";
    return [
      { what: `${what}, median`, value: p50_ms, unit: "ms", aim: "told" },
      { what: `${what}, p99`, value: p99_ms, unit: "ms", aim },
    ];
  });
}

function startRows({ readyMs, parts }: LiveStart, what: string, aim: string): Row[] {
  const seconds = (ms: number) => ({ value: ms / 1_000, unit: "s" });
  return [
    { what: `${what}: ready with exchanges and aggregator`, ...seconds(readyMs), aim },
    ...WORLD_PARTS.map((name) => ({
      ...{ what: `${what}: ${name} live`, ...seconds(parts.get(name)?.afterMs ?? Number.NaN) },
      aim: "≤ 120",
    })),
  ];
}

function countsOf(world: LiveWorld): ReadonlyMap<string, number> {
  const toVenue = (name: string) => world.exchanges.requests.filter(({ venue }) => venue === name).length;
  return new Map([
    ...WORLD_CHAINS.flatMap((name) =>
      world.endpointsOf(name).map(({ node }, index) => [`${name} #${index + 1}`, node.asked.length] as const),
    ),
    ...["binance", "kucoin", "gate"].map((name) => [name, toVenue(name)] as const),
    ["aggregator", world.requestsOf("aggregator")],
  ]);
}
