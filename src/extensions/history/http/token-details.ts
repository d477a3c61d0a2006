import { isoTime } from "../../../base/lib/time/iso-time.ts";
import { MINUTE_MS, startOf } from "../../../base/lib/time/time.ts";
import {
  type AnyFlare,
  CANDLE_MINUTES,
  type Candle,
  type Explanation,
  type FlareRecord,
  type Group,
  type Snapshot,
  TOKEN_CANDLES,
  TOKEN_FLARES,
  type TokenDetails,
  tokenOf,
} from "../../../base/model/index.ts";
import { finalFacts, type ListedToken, type TokenFacts } from "./token-index.ts";

/** A token's data in the history. */
export interface StoredToken {
  /** Newest first. */
  readonly records: readonly FlareRecord[];
  /** Why its running flares started, by id. */
  readonly starts: ReadonlyMap<string, Explanation | null>;
  /** Oldest first. */
  readonly candles: readonly Candle[];
}

interface Known {
  readonly group: Group;
  readonly identity: string;
  readonly listed: ListedToken | undefined;
  readonly stored: StoredToken;
  /** The snapshot as the plan shows it. */
  readonly snapshot: Snapshot;
  readonly nowMs: number;
}

/** How long candles are stored after a flare's start, even if it ends earlier. */
const FOLLOW_MS = 120 * MINUTE_MS;

/** Returns the record of a listed flare. */
export function recordOf(flare: AnyFlare, started: Explanation | null, shown: Snapshot): FlareRecord {
  const why = shown.explanations[flare.id] ?? null;
  if (flare.finished_trending_at === null) return { flare, started, why, cause: null, outcome: null };
  const outcome = shown.outcomes[flare.id] ?? null;
  return { flare, started, why, cause: why?.finish_cause ?? "upstream", outcome };
}

/** Returns the details of a token; `undefined` if it is unknown. */
export function detailsOf(known: Known): TokenDetails | undefined {
  const { group, identity, listed, stored, snapshot } = known;
  const flares = flaresOf(known).slice(0, TOKEN_FLARES);
  const [latest] = flares;
  const facts = listed?.facts ?? (latest && finalFacts(latest.flare));
  if (!facts) return undefined;
  const candles = candlesOf(facts.address, stored.candles, flares, known);
  return {
    group,
    ...facts,
    ...lastPriceOf(facts, candles),
    warnings: latest?.why?.warnings ?? [],
    canary: group === "bsc" ? canaryOf(identity, snapshot) : null,
    chart: chartOf(group, identity, snapshot),
    leaderboard: leaderboardOf(group, identity, snapshot),
    candles,
    flares,
  };
}

/**
 * Returns the newest known price. A token without a running flare is in no list that would update
 * its price, but its candles go on.
 */
function lastPriceOf(
  { price, price_at, as_of }: TokenFacts,
  candles: readonly Candle[],
): Pick<TokenFacts, "price" | "price_at"> {
  const last = candles.findLast(({ close }) => close !== null);
  const seen = price_at ?? as_of;
  if (!last?.close || seen === null) return { price, price_at };
  const closed_at = isoTime(Date.parse(last.open_at) + MINUTE_MS);
  // Current facts may be newer than the close of the minute in which they were seen.
  const isNewer = seen < (as_of === null ? last.open_at : closed_at);
  return isNewer ? { price: last.close, price_at: closed_at } : { price, price_at };
}

/** Merges both sources: the lists are newer, but only the history has the reasons of starts. */
function flaresOf({ listed, stored, snapshot }: Known): readonly FlareRecord[] {
  const byId = new Map(stored.records.map((record) => [record.flare.id, record]));
  const shown = (listed?.flares ?? []).map((flare) => {
    const before = byId.get(flare.id);
    const record = recordOf(flare, before?.started ?? stored.starts.get(flare.id) ?? null, snapshot);
    return before && record.cause !== null
      ? { ...before, outcome: record.outcome ?? before.outcome }
      : record;
  });
  const ids = new Set(shown.map(({ flare }) => flare.id));
  return [...shown, ...stored.records.filter(({ flare }) => !ids.has(flare.id))];
}

/**
 * Returns a day of candles: the last hour from the snapshot, the rest from the history. Omits
 * minutes far from the shown flares, because they would reveal a flare that the plan does not show.
 */
function candlesOf(
  address: string | null,
  stored: readonly Candle[],
  flares: readonly FlareRecord[],
  { group, snapshot, nowMs }: Known,
): Candle[] {
  const all = withLive(stored, group, address, snapshot);
  const spans = flares.map(({ flare }) => spanOf(flare));
  const oldestMs = startOf(MINUTE_MS, nowMs) - TOKEN_CANDLES * MINUTE_MS;
  return all.filter(({ open_at }) => {
    const openMs = Date.parse(open_at);
    return openMs >= oldestMs && spans.some(([fromMs, toMs]) => openMs >= fromMs && openMs <= toMs);
  });
}

/** Adds a token's candles of the last hour, if the snapshot has any, to its stored ones. */
export function withLive(
  stored: readonly Candle[],
  group: Group,
  address: string | null | undefined,
  { candles: { bsc } }: Snapshot,
): readonly Candle[] {
  const isLive = group === "bsc" && address != null && Object.hasOwn(bsc, address);
  const live = isLive ? (bsc[address] ?? []) : [];
  const liveFrom = live[0]?.open_at;
  return liveFrom === undefined ? stored : [...stored.filter((c) => c.open_at < liveFrom), ...live];
}

/** Returns the times of the first and the last candle that a flare shows. */
function spanOf({ started_trending_at, finished_trending_at }: AnyFlare): readonly [number, number] {
  const startMs = Date.parse(started_trending_at);
  const endMs = finished_trending_at === null ? Number.POSITIVE_INFINITY : Date.parse(finished_trending_at);
  const fromMs = startOf(MINUTE_MS, startMs) - CANDLE_MINUTES * MINUTE_MS;
  return [fromMs, Math.max(endMs, startMs + FOLLOW_MS)];
}

function canaryOf(identity: string, { charts, leaderboards }: Snapshot): boolean | null {
  const judged = [...charts.bsc.map(({ flare }) => flare), ...leaderboards.bsc.map(({ object }) => object)];
  return judged.find(({ token }) => tokenOf({ token }) === identity)?.canary ?? null;
}

function chartOf(group: Group, identity: string, { charts }: Snapshot): TokenDetails["chart"] {
  const items = charts[group];
  const index = items.findIndex((item) => tokenOf("flare" in item ? item.flare : item) === identity);
  const item = items[index];
  if (!item) return null;
  const { id, streak, most_recent_price_average, price_change_from_average, latest_candle_prices } = item;
  return {
    id,
    rank: index + 1,
    streak,
    most_recent_price_average,
    price_change_from_average,
    latest_candle_prices,
  };
}

function leaderboardOf(
  group: Group,
  identity: string,
  { leaderboards }: Snapshot,
): TokenDetails["leaderboard"] {
  const entries = leaderboards[group];
  const index = entries.findIndex(
    ({ object }) => tokenOf("token" in object ? object : { token: object }) === identity,
  );
  const entry = entries[index];
  if (!entry) return null;
  const { time_trended, average_position } = entry;
  return { rank: index + 1, time_trended, average_position };
}
