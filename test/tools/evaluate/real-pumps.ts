import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../src/base/lib/time/time.ts";
import type { Trade } from "../../../src/base/market/index.ts";
import { type DetectorSettings, TrendEngine } from "../../../src/engine/index.ts";

/*
 * Measures the detector on pumps that were announced in public, with each trade of the exchange
 * from 26 hours before to 3 hours after. The directory has pumps.json and NAME.trades.csv.gz.
 */

/** Times in milliseconds. */
export interface RealPump {
  readonly name: string;
  readonly pair: string;
  readonly announced: number;
  /** Price before the pump, and at its peak. */
  readonly base: number;
  readonly peak: number;
  /** The peak against the price before, as a share. */
  readonly rise: number;
  /** When the price was first 2 % above the price before; `null` if it never was. */
  readonly onset: number | null;
  readonly half_lost: number;
}

interface PumpTrade {
  readonly at: number;
  readonly price: number;
}

/** A start or surge of a flare. */
interface Alarm {
  readonly at: number;
  readonly isSurge: boolean;
}

/** What the detector did on one pair. */
export interface PumpRun {
  readonly pump: RealPump;
  readonly trades: readonly PumpTrade[];
  readonly alarms: readonly Alarm[];
  readonly flares: readonly { readonly from: number; readonly to: number }[];
}

/** Smaller pumps are not scored. */
const MIN_RISE = 0.1;
/** Starts further from the announcement are natural. */
const NATURAL_MS = HOUR_MS;
/** A start or surge is the pump's from just before its first 2 % to this long after. */
const HIT_MS = 5 * MINUTE_MS;
const EARLY_MS = SECOND_MS;
const PEAK_MS = 10 * MINUTE_MS;
/** A lead is a start or surge within this time before the announcement. */
const LEAD_MS = HOUR_MS;
/** Makes prices in bitcoin plain amounts of some dollars. */
const BITCOIN_USD = 40_000;

export function loadPumps(directory: string): readonly RealPump[] {
  return JSON.parse(readFileSync(join(directory, "pumps.json"), "utf8"));
}

/** Plays one pair's trades. */
export function runPump(
  directory: string,
  pump: RealPump,
  settings: Partial<DetectorSettings> = {},
): PumpRun {
  const text = gunzipSync(readFileSync(join(directory, `${pump.name}.trades.csv.gz`))).toString();
  const facts = { trades: false, liquidity: false, listings: false, profiles: false };
  const engine = new TrendEngine({ facts, settings });
  const trades: PumpTrade[] = [];
  const alarms: Alarm[] = [];
  const flares: { from: number; to: number }[] = [];
  let clockMs = 0;
  let surge = 0;
  const look = (at: number) => {
    const { pro } = engine.snapshot()["flares.exchange"];
    const running = flares.at(-1);
    const isOpen = running !== undefined && running.to === Number.POSITIVE_INFINITY;
    const [flare] = pro;
    if (isOpen && flares.length > 0 && flare === undefined) running.to = at;
    if (!flare) return;
    const from = Date.parse(flare.started_trending_at);
    if (running?.from !== from) {
      if (isOpen) running.to = at;
      flares.push({ from, to: Number.POSITIVE_INFINITY });
      alarms.push({ at, isSurge: false });
      surge = 0;
    }
    const number = engine.snapshot().explanations[flare.id]?.surge?.number ?? 0;
    if (number > surge) alarms.push({ at, isSurge: true });
    surge = number;
  };
  for (const line of text.split("\n").slice(1)) {
    const [time, side, price = "0", amount = "0"] = line.split(",");
    const at = Number(time);
    if (!(Number(price) > 0 && Number(amount) > 0)) continue;
    for (clockMs ||= Math.floor(at / SECOND_MS) * SECOND_MS; clockMs <= at; clockMs += SECOND_MS) {
      engine.accept({ kind: "clock", at: clockMs });
      if (engine.nextChangeAtMs <= engine.clockMs) look(clockMs);
    }
    engine.accept(tradeOf(pump.pair, at, side === "s" ? "sell" : "buy", Number(price), Number(amount)));
    trades.push({ at, price: Number(price) });
  }
  return { pump, trades, alarms, flares };
}

function tradeOf(pair: string, at: number, side: Trade["side"], price: number, amount: number): Trade {
  const decimal = (value: number) => value.toFixed(12);
  const names = { kind: "trade", group: "exchange", pool: pair, token: pair } as const;
  const money = decimal(price * amount * BITCOIN_USD);
  return { ...names, at, side, price: decimal(price), amount: decimal(amount), quoteUsd: money };
}

/** Returns the figures by name, in the order in which they are printed. */
export function scorePumps(runs: readonly PumpRun[]): Readonly<Record<string, number>> {
  const days = sum(runs.map(({ trades }) => ((trades.at(-1)?.at ?? 0) - (trades[0]?.at ?? 0)) / DAY_MS));
  const natural = runs.flatMap(({ pump, alarms }) =>
    alarms.filter(({ at }) => Math.abs(at - pump.announced) > NATURAL_MS),
  );
  const scored = runs.filter(({ pump }) => pump.rise >= MIN_RISE && pump.onset !== null);
  const hits = scored.flatMap((run) => hitOf(run) ?? []);
  const isLed = ({ pump, alarms }: PumpRun) =>
    alarms.some(({ at }) => at < pump.announced && at >= pump.announced - LEAD_MS);
  const starts = natural.filter(({ isSurge }) => !isSurge).length;
  const perHour = natural.length / (days * 24 - 2 * runs.length);
  return {
    "pumps of 10 % or more": scored.length,
    "with a start or surge": hits.length,
    "of these surges": hits.filter(({ isSurge }) => isSurge).length,
    "seconds after the first 2 %, p50": quantile(
      hits.map(({ delayS }) => delayS),
      0.5,
    ),
    "seconds after the first 2 %, p90": quantile(
      hits.map(({ delayS }) => delayS),
      0.9,
    ),
    "share of the move ahead, p50": quantile(
      hits.map(({ ahead }) => ahead),
      0.5,
    ),
    "share of the move ahead, mean": sum(hits.map(({ ahead }) => ahead)) / hits.length,
    "change 15 minutes later, p50 in %":
      100 *
      quantile(
        hits.map(({ later }) => later),
        0.5,
      ),
    "minutes from half lost to the finish, p50": quantile(
      hits.flatMap(({ endMinutes }) => endMinutes ?? []),
      0.5,
    ),
    "natural starts a pair-day": starts / days,
    "natural surges a pair-day": (natural.length - starts) / days,
    "start or surge in the hour before the announcement": runs.filter(isLed).length / runs.length,
    "the same by chance, for any hour": 1 - Math.exp(-perHour),
  };
}

function hitOf({ pump, trades, alarms, flares }: PumpRun) {
  const { onset, base, peak, half_lost } = pump;
  if (onset === null) return undefined;
  const hit = alarms.find(({ at }) => at >= onset - EARLY_MS && at <= onset + HIT_MS);
  if (!hit) return undefined;
  const priceAt = (at: number) => trades.findLast((trade) => trade.at <= at)?.price ?? Number.NaN;
  const price = priceAt(hit.at);
  const after = trades.filter(({ at }) => at > hit.at && at <= onset + PEAK_MS).map((trade) => trade.price);
  const flare = flares.findLast(({ from }) => from <= hit.at);
  return {
    isSurge: hit.isSurge,
    delayS: (hit.at - onset) / SECOND_MS,
    ahead: (Math.max(price, ...after) - price) / (peak - base),
    later: priceAt(hit.at + 15 * MINUTE_MS) / price - 1,
    endMinutes: flare && Number.isFinite(flare.to) ? (flare.to - half_lost) / MINUTE_MS : undefined,
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
