import type { FeedFacts, MarketEvent, Origin } from "../market/index.ts";

/** Where market events come from. */
export interface Feed {
  /** Short name for people and logs: `replay`, `simulated`. */
  readonly name: string;
  readonly origin: Origin;
  /** What it can know. */
  readonly facts: FeedFacts;
  /**
   * The events in event-time order, with a `clock` at least every second of event time. Ends when there is no more to come;
   * throws FlarewireError when it fails for good; returns soon after `signal` aborts. Iterated at most once.
   */
  events(signal: AbortSignal): AsyncIterable<MarketEvent>;
  /** What of it does not work while the rest goes on, in words for everybody: without addresses, and without figures that change. `undefined`: all of it works. */
  readonly trouble?: () => string | undefined;
  /** Of a market that is made of several: how each fares. */
  readonly parts?: () => readonly FeedPart[];
  /** How the services of others fare that it asks, the same ones in the same order each time. */
  readonly services?: () => readonly ServiceReport[];
}

/** How a part of a market fares. */
export interface FeedPart {
  readonly name: string;
  /** `live`: the market goes on with it. `stale`: without it, for the moment. `down`: it failed for good. */
  readonly state: "live" | "stale" | "down";
  /** Why it is not `live`, or what is amiss though it is; empty where there is nothing to say. */
  readonly reason: string;
  /** Event time up to which it has told; `undefined` before the first. */
  readonly observedAtMs: number | undefined;
  /** Milliseconds since that moved, or since the start. */
  readonly ageMs: number;
  /** Its trades and candles that came too late for the market, so far. */
  readonly late: number;
}

/** How a service of others fares. Counts are since the start. */
export interface ServiceReport {
  /** What it is asked for: `bsc`, `exchange`, `enrich`. */
  readonly part: string;
  /** Its name: `binance`, `coingecko`; of an endpoint its host. Never an address, which may hold a key. */
  readonly service: string;
  /** It answered, when it was asked last, as it should. */
  readonly isUp: boolean;
  /** Milliseconds since it said something of use; `undefined` before the first time. */
  readonly ageMs: number | undefined;
  readonly requests: number;
  /** Requests that brought nothing of use, those that were refused left out. */
  readonly errors: number;
  /** Requests that it refused because there were too many, or because it does not answer such. */
  readonly refused: number;
  /** Milliseconds for which requests were held back, to keep within what it bears. */
  readonly waitedMs: number;
}
