import type { MarketEvent, Profile } from "../../../src/base/market/index.ts";
import { simulate } from "./run.ts";

/** The groups that a market must have, sorted. */
export const MARKET_GROUPS_SEEN = ["avalanche", "bsc", "exchange", "matic"];

const FACTS = ["marketData", "socialData", "contractSource", "forumPost"] as const;

/** Number of profiles with a fact, and with a known absence. */
interface FactCount {
  some: number;
  none: number;
}

/** Counts of a run of the market. */
export interface Tally {
  readonly tradesByToken: Map<string, number>;
  readonly tradesByTrader: Map<string, number>;
  readonly tradesByHour: number[];
  readonly groups: Set<string>;
  readonly listings: number[];
  readonly quotes: string[];
  readonly facts: Readonly<Record<(typeof FACTS)[number], FactCount>>;
  readonly factMoments: number[];
}

/** Runs the market and counts its events. */
export function tally(run: Parameters<typeof simulate>[0]): Tally {
  const count = () => ({ some: 0, none: 0 });
  const result: Tally = {
    tradesByToken: new Map(),
    tradesByTrader: new Map(),
    tradesByHour: new Array<number>(24).fill(0),
    groups: new Set(),
    listings: [],
    quotes: [],
    facts: { marketData: count(), socialData: count(), contractSource: count(), forumPost: count() },
    factMoments: [],
  };
  simulate(run, (event) => add(result, event));
  return result;
}

function add(result: Tally, event: MarketEvent): void {
  if (event.kind === "trade" || event.kind === "candle") result.groups.add(event.group);
  if (event.kind === "listing") result.listings.push(event.at);
  if (event.kind === "profile") addProfile(result, event);
  if (event.kind !== "trade") return;
  increment(result.tradesByToken, event.token);
  increment(result.tradesByTrader, event.trader ?? "");
  const hour = new Date(event.at).getUTCHours();
  result.tradesByHour[hour] = (result.tradesByHour[hour] ?? 0) + 1;
}

function addProfile(result: Tally, profile: Profile): void {
  if (profile.quote) result.quotes.push(profile.token);
  for (const fact of FACTS) {
    const value = profile[fact];
    if (value === undefined) continue;
    result.facts[fact][value === null ? "none" : "some"] += 1;
    result.factMoments.push(profile.at);
  }
}

function increment(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
