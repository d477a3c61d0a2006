import { hash } from "node:crypto";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { EngineSource } from "../../../src/app/engine-source.ts";
import { systemClock } from "../../../src/base/lib/time/clock.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../src/base/lib/time/time.ts";
import { EMPTY_SNAPSHOT } from "../../../src/base/model/index.ts";
import { toEpoch } from "../../../src/base/protocol/index.ts";
import { TrendEngine } from "../../../src/engine/index.ts";
import {
  createHistoryReader,
  HistoryProgress,
  type HistoryReader,
  MinuteWriter,
  openMinuteStore,
  openSqliteHistoryStore,
  writeHistory,
} from "../../../src/extensions/history/index.ts";
import { createSimulatedFeed } from "../../../src/feeds/simulated/simulated-feed.ts";
import { createHttpServer } from "../../../src/gateway/http/index.ts";
import { Head } from "../../../src/gateway/hub/index.ts";
import { MemoryLog } from "../../../src/gateway/log/index.ts";
import { toEvents } from "../../../src/gateway/source/index.ts";
import { createChance } from "../../support/random/chance.ts";
import { planByHeader } from "../../support/servers/plan-by-header.ts";
import { withExtensions } from "../../support/servers/with-extensions.ts";

interface PastOptions {
  readonly seed: number;
  readonly days: number;
  /** Number of random minutes to compare. */
  readonly minutes: number;
  /** Default: that of the simulated market. */
  readonly tokens?: number;
  readonly warmupMs?: number;
  /** Number of minutes to store again for the measurement. */
  readonly measured?: number;
}

export interface PastRun {
  readonly compared: number;
  /** Responses that differ from the live ones. */
  readonly wrong: readonly string[];
  /** Response times in ms. `cold`: of the first request for each minute. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly coldP99Ms: number;
  readonly stored: number;
  readonly bytesPerDay: number;
  readonly fileBytesPerDay: number;
  /** CPU time of all threads per stored minute. */
  readonly cpuMsPerMinute: number;
}

const START_MS = Date.UTC(2026, 0, 2);
const PATHS = [
  ...["flares", "newest", "charts", "leaderboards", "snapshot", "candles"],
  ...["history", "history?limit=3", "record", "record?window=7d&group=bsc", "tokens/exchange/BTC"],
].map((name) => `/api/v1/${name}`);
const PLANS = ["free", "pro"] as const;
const LIMITS = { maxAgeMs: 366 * DAY_MS, maxBytes: 2 ** 40 };
const LOG = { clock: systemClock, maxAgeMs: 0, minCount: 1_000, maxBytes: 2 ** 30, lastingAgeMs: 0 };

/**
 * Plays days of a simulated market, records the live responses at random minutes, and requests
 * these minutes afterwards.
 */
export async function runPast(options: PastOptions): Promise<PastRun> {
  const { seed, days, minutes, tokens, warmupMs = 2 * HOUR_MS, measured = 120 } = options;
  const directory = mkdtempSync(join(tmpdir(), "flarewire-past-"));
  const path = join(directory, "minutes");
  const store = openMinuteStore(LIMITS, path);
  const flares = openSqliteHistoryStore(LIMITS);
  const log = new MemoryLog({ ...LOG, epoch: toEpoch("past1") });
  const head = new Head({ log });
  const failures: string[] = [];
  const writer = new MinuteWriter({ head, store, notify: (_level, message) => failures.push(message) });
  const progress = new HistoryProgress();
  const finished = new AbortController();
  const { signal } = finished;
  const history = createHistoryReader(flares, {
    store,
    writer: () => writer,
    isComplete: () => progress.settled(),
  });
  const feed = createSimulatedFeed({
    ...{ seed, startAtMs: START_MS, warmupMs, durationMs: days * DAY_MS, clock: systemClock },
    ...{ speed: Number.POSITIVE_INFINITY, ...(tokens === undefined ? {} : { tokens }) },
  });
  const source = new EngineSource({
    ...{ feed, engine: new TrendEngine({ facts: feed.facts }), clock: systemClock, warmupMs },
  });
  const app = await createHttpServer(
    withExtensions({
      ...{ head, history, policy: planByHeader, clock: systemClock },
      ...{ freshness: () => source.freshness(), info: () => source.info },
    }),
  );
  try {
    const url = await app.listen({ host: "127.0.0.1", port: 0 });
    const chance = createChance(seed);
    const all = days * (DAY_MS / MINUTE_MS);
    const wanted = new Set<number>();
    while (wanted.size < Math.min(minutes, all - 2)) {
      wanted.add(START_MS + chance.whole(1, all - 2) * MINUTE_MS);
    }
    let isWritten = false;
    const live = new Map<number, ReadonlyMap<string, string>>();
    for (let poll = await source.poll(signal); poll; poll = await source.poll(signal)) {
      const { observedAtMs, snapshot } = poll;
      if (head.ready) {
        const firstMs = Math.ceil(head.observedAtMs / MINUTE_MS) * MINUTE_MS;
        for (let atMs = firstMs; atMs < observedAtMs; atMs += MINUTE_MS)
          if (wanted.has(atMs)) live.set(atMs, await liveBodies(url, head, progress));
      }
      const events = head.ready ? toEvents(head.snapshot, snapshot, observedAtMs) : [];
      if (events.length > 0 || !head.ready) await head.publish({ observedAtMs, snapshot, events });
      if (isWritten) continue;
      isWritten = true;
      const notify = (_level: string, message: string) => failures.push(message);
      void writeHistory({ log, head, store: flares, progress, clock: systemClock, notify, signal });
    }
    const results = await comparePast(url, live);
    await writer.stop();
    const { minutes: stored, bytes } = store.size;
    const played = (store.range ? store.range.newestMs - store.range.oldestMs : 0) / DAY_MS;
    return {
      ...results,
      wrong: [...results.wrong, ...failures],
      stored,
      bytesPerDay: Math.round(bytes / played),
      fileBytesPerDay: Math.round((statSync(path).size + statSync(`${path}-wal`).size) / played),
      cpuMsPerMinute:
        measured > 0 ? await measureStoring(history, store.range?.newestMs ?? 0, measured) : Number.NaN,
    };
  } finally {
    finished.abort();
    await turn();
    await app.close();
    store.close();
    flares.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Returns hashes of the live responses by plan and path, including paths of some flares. */
async function liveBodies(
  url: string,
  { snapshot }: Head,
  progress: HistoryProgress,
): Promise<ReadonlyMap<string, string>> {
  // The history is written after the head has moved.
  await progress.settled();
  const { pro, finished_trending } = snapshot.flares;
  const flares = [pro[0], pro.at(-1), finished_trending[0], finished_trending.at(-1)];
  const others = flares.flatMap((flare) => {
    if (!flare) return [];
    const { id, token } = flare;
    return [`flares/${id}`, `tokens/bsc/${token.address}`, `history?address=${token.address}`];
  });
  const { next } = (await (await fetch(`${url}/api/v1/history?limit=3`)).json()) as { next: string | null };
  if (next !== null) others.push(`history?limit=3&cursor=${next}`);
  const paths = others.map((path) => `/api/v1/${path}`);
  const bodies = new Map<string, string>();
  for (const plan of PLANS)
    for (const path of [...PATHS, ...paths])
      bodies.set(`${plan} ${path}`, await hashOf(url, `${plan} ${path}`));
  return bodies;
}

/**
 * Requests a path with a plan. Returns the status, and the hash of the body unless it is an error.
 */
async function hashOf(url: string, what: string, query = ""): Promise<string> {
  const [authorization = "", path = ""] = what.split(" ");
  const response = await fetch(`${url}${path}${query}`, { headers: { authorization } });
  const body = Buffer.from(await response.arrayBuffer());
  return response.ok ? `200 ${hash("sha256", body)}` : `${response.status}`;
}

async function comparePast(url: string, live: ReadonlyMap<number, ReadonlyMap<string, string>>) {
  const wrong: string[] = [];
  const all: number[] = [];
  const cold: number[] = [];
  let compared = 0;
  for (const [atMs, bodies] of live) {
    const spent: number[] = [];
    const at = new Date(atMs).toISOString();
    for (const [what, body] of bodies) {
      const startedAt = performance.now();
      const past = await hashOf(url, what, `${what.includes("?") ? "&" : "?"}at=${at}`);
      spent.push(performance.now() - startedAt);
      compared += 1;
      if (past !== body) wrong.push(`${what} at ${at} is ${past}; expected ${body}`);
    }
    cold.push(...spent.slice(0, 1));
    all.push(...spent);
  }
  return {
    compared,
    wrong,
    p50Ms: quantile(all, 0.5),
    p99Ms: quantile(all, 0.99),
    coldP99Ms: quantile(cold, 0.99),
  };
}

function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN;
}

/** Stores some minutes again, parsed in advance. Returns the CPU time per minute. */
async function measureStoring(history: HistoryReader, newestMs: number, measured: number): Promise<number> {
  const states = [];
  for (let atMs = newestMs - measured * MINUTE_MS; atMs <= newestMs; atMs += MINUTE_MS) {
    const stored = await history.minute(atMs);
    if (!stored.minute) continue;
    const { candle_counts: _, ...lists } = JSON.parse(stored.snapshot);
    states.push({ atMs, snapshot: { ...EMPTY_SNAPSHOT, ...lists } });
  }
  const log = new MemoryLog({ ...LOG, epoch: toEpoch("past2") });
  const head = new Head({ log });
  const store = openMinuteStore(LIMITS);
  const notify = (_level: string, message: string) => {
    throw new Error(message);
  };
  const writer = new MinuteWriter({ head, store, notify });
  const before = process.cpuUsage();
  for (const { atMs, snapshot } of states) {
    await head.publish({ observedAtMs: atMs, snapshot, events: [] });
    await writer.settled();
  }
  const { user, system } = process.cpuUsage(before);
  store.close();
  return (user + system) / 1_000 / states.length;
}
