import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { systemClock } from "../../../src/base/lib/time/clock.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../src/base/lib/time/time.ts";
import type { Candle, FlareRecord, Snapshot } from "../../../src/base/model/index.ts";
import { TrendEngine } from "../../../src/engine/index.ts";
import {
  createHistoryReader,
  type HistoryStore,
  openMinuteStore,
  openSqliteHistoryStore,
} from "../../../src/extensions/history/index.ts";
import type { MinuteStore } from "../../../src/extensions/history/minute-store.ts";
import { packText } from "../../../src/extensions/history/minute-text.ts";
import { createSimulatedFeed } from "../../../src/feeds/simulated/simulated-feed.ts";
import type { Row } from "./report.ts";

const DAYS = 30;
const FLARES_A_DAY = 300;
const LIMITS = { maxAgeMs: 2 * DAYS * DAY_MS, maxBytes: 2 ** 40 };
const START_MS = Date.UTC(2026, 0, 2);
/** Candles of a flare's token, from an hour before to two hours after. */
const CANDLES = 180;
const KEYFRAME_MINUTES = 60;
const EMPTY_CANDLE = { open: "1", high: "1", low: "1", close: "1", volume: "1", buys: 1, sells: 0 };
const AIM = `of ${DAYS} days of ${FLARES_A_DAY} flares`;

/** Snapshots of a busy simulated market, from which the month is generated. */
interface Sample {
  readonly snapshots: readonly Snapshot[];
  readonly flares: readonly FlareRecord[];
  readonly candles: readonly (readonly Candle[])[];
}

/**
 * Measures memory and disk of 30 days of history, filled with the flares, candles and minutes of a
 * simulated market, and the cost of a commit and of the record.
 */
export async function benchHistory(hours: number): Promise<Row[]> {
  const directory = mkdtempSync(join(tmpdir(), "flarewire-history-"));
  const rows: Row[] = [];
  const add = (what: string, value: number, unit: string, aim = AIM) => rows.push({ what, value, unit, aim });
  try {
    const sample = await playSample(hours);
    const [flarePath, minutePath] = [join(directory, "history"), join(directory, "minutes")];
    const usedMb = () => {
      collectGarbage();
      return process.memoryUsage().rss / 1e6;
    };
    const before = usedMb();
    const store = openSqliteHistoryStore(LIMITS, flarePath);
    const { medianMs, p99Ms } = await fillFlares(store, sample);
    const fileMb = (path: string) =>
      ["", "-wal"].reduce(
        (sum, end) => sum + (statSync(path + end, { throwIfNoEntry: false })?.size ?? 0),
        0,
      ) / 1e6;
    const { flares, bytes } = store.size;
    add("flares stored", flares, "");
    add("flares and candles, counted", bytes / 1e6, "MB");
    add("flares and candles, file", fileMb(flarePath), "MB");
    add("commit of a flare with its candles, median", medianMs, "ms", "was 11 ms under load");
    add("the same, 99th percentile", p99Ms, "ms");
    const minutes = openMinuteStore(LIMITS, minutePath);
    await fillMinutes(minutes, sample);
    add("minutes stored", minutes.size.minutes, "");
    add("minutes, counted", minutes.size.bytes / 1e6, "MB");
    add("minutes, file", fileMb(minutePath), "MB");
    const reader = createHistoryReader(store, { store: minutes });
    const toMs = START_MS + DAYS * DAY_MS;
    const first = await longestTurn(() => reader.record({ window: "30d", toMs }));
    add("record of 30 days, CPU", first.cpuMs, "ms", "once a minute at most, if asked for");
    add("record of 30 days, longest turn", first.longestMs, "ms", "≤ 20");
    add("memory of both stores", usedMb() - before, "MB", "of the process, after a fill and a record");
    store.close();
    minutes.close();
    return rows;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Runs V8's garbage collector, which a program can only call after this flag. */
function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
}

/** Plays the market. Collects a snapshot per minute, and the finished flares. */
async function playSample(hours: number): Promise<Sample> {
  const feed = createSimulatedFeed({
    ...{ seed: 1, startAtMs: START_MS, warmupMs: 0, durationMs: hours * HOUR_MS },
    ...{ clock: systemClock, speed: Number.POSITIVE_INFINITY },
  });
  const engine = new TrendEngine({ facts: feed.facts });
  const snapshots: Snapshot[] = [];
  const { signal } = new AbortController();
  let nextMs = START_MS + HOUR_MS;
  for await (const event of feed.events(signal)) {
    engine.accept(event);
    if (event.kind !== "clock" || event.at < nextMs) continue;
    nextMs += MINUTE_MS;
    snapshots.push(engine.snapshot());
  }
  const flares = new Map<string, FlareRecord>();
  const candles = new Map<string, readonly Candle[]>();
  for (const { flares: lists, explanations, outcomes, candles: shown } of snapshots) {
    for (const flare of lists.finished_trending) {
      const why = explanations[flare.id] ?? null;
      flares.set(flare.id, { flare, started: why, why, cause: "faded", outcome: outcomes[flare.id] ?? null });
    }
    for (const [address, own] of Object.entries(shown.bsc)) candles.set(address, own);
  }
  return {
    snapshots: snapshots.slice(-KEYFRAME_MINUTES),
    flares: [...flares.values()].filter(({ outcome }) => outcome?.final),
    candles: [...candles.values()].filter(({ length }) => length > KEYFRAME_MINUTES / 2),
  };
}

/** Fills the store with finished flares, one by one, each with its token's candles. */
async function fillFlares(store: HistoryStore, { flares, candles }: Sample) {
  const costs: number[] = [];
  for (let number = 0; number < DAYS * FLARES_A_DAY; number += 1) {
    const atMs = START_MS + Math.floor((number * DAY_MS) / FLARES_A_DAY);
    const began = performance.now();
    store.commit(finishOf(number, atMs, flares[number % flares.length], candles[number % candles.length]));
    costs.push(performance.now() - began);
    if (number % 100 === 0) await turn();
  }
  costs.sort((a, b) => a - b);
  const at = (share: number) => costs[Math.floor(share * costs.length)] ?? Number.NaN;
  return { medianMs: at(0.5), p99Ms: at(0.99) };
}

/** Returns a flare of the sample as one of the month, with its number of candles. */
function finishOf(
  number: number,
  atMs: number,
  sample: FlareRecord | undefined,
  own: readonly Candle[] = [],
) {
  if (!sample) throw new Error("no flare of the sample has a final outcome; play more hours");
  const { flare, started, why, outcome } = sample;
  const id = `${flare.id.slice(0, -12)}${String(number).padStart(12, "0")}`;
  const token = { ...flare.token, address: `0x${number.toString(16).padStart(40, "0")}` };
  const timeOf = (ms: number) => new Date(ms).toISOString();
  const at = timeOf(atMs - HOUR_MS);
  const finished = { ...flare, id, token, started_trending_at: at, finished_trending_at: timeOf(atMs) };
  const firstMs = Math.floor(atMs / MINUTE_MS - CANDLES) * MINUTE_MS;
  const candles = Array.from({ length: CANDLES }, (_, minute) => ({
    ...(own[minute % own.length] ?? EMPTY_CANDLE),
    open_at: timeOf(firstMs + minute * MINUTE_MS),
  }));
  return {
    ...{ cursor: `bench-${number}`, nowMs: atMs, outcomes: [] },
    starts: [{ id, at, why: started }],
    finishes: [{ flare: finished, why, cause: "faded" as const, outcome }],
    candles: [{ group: "bsc" as const, address: token.address, candles }],
  };
}

/** Stores the sample's minutes repeatedly, with a keyframe per hour. */
async function fillMinutes(store: MinuteStore, { snapshots }: Sample): Promise<void> {
  const texts = snapshots.map(({ candles: _apart, ...lists }) => Buffer.from(JSON.stringify(lists)));
  const [first = Buffer.alloc(0)] = texts;
  const keyframe = await packText(first);
  const bodies = await Promise.all(texts.map((text) => packText(text, first)));
  let known: number | undefined;
  for (let minute = 0; minute < DAYS * 24 * 60; minute += 1) {
    const firstMs = START_MS + minute * MINUTE_MS;
    const times = { firstMs, lastMs: firstMs, observedAtMs: firstMs, aliveMs: firstMs };
    const state = { ...times, sourceState: "live" as const, cursor: `bench-${minute}` };
    const isNew = known === undefined || minute % KEYFRAME_MINUTES === 0;
    const body = bodies[minute % bodies.length] ?? first;
    known = store.insert({ state, body, keyframe: isNew ? keyframe : (known ?? keyframe) });
    if (minute % 500 === 0) await turn();
  }
}

/** Runs the work. Returns its CPU time and the longest time without a turn for other work. */
async function longestTurn(work: () => Promise<unknown>) {
  let [isOver, longestMs] = [false, 0];
  const other = (async () => {
    for (let before = performance.now(); !isOver; ) {
      await turn();
      const now = performance.now();
      longestMs = Math.max(longestMs, now - before);
      before = now;
    }
  })();
  const cpu = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(cpu);
  isOver = true;
  await other;
  return { cpuMs: (user + system) / 1e3, longestMs };
}
