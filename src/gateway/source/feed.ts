import type { FeedFacts, MarketEvent, Origin } from "../../base/market/index.ts";
import type { DurationHistogram } from "../metrics/duration-histogram.ts";

/** A source of market events. */
export interface Feed {
  /** Short name for people and logs: `replay`, `simulated`. */
  readonly name: string;
  readonly origin: Origin;
  /** The facts that it supports. */
  readonly facts: FeedFacts;
  /** Yields events by time, with a `clock` each second, until the source ends. Iterated once. */
  events(signal: AbortSignal): AsyncIterable<MarketEvent>;
  /** The current problem, in public sentences without addresses and changing numbers. */
  readonly trouble?: () => string | undefined;
  /**
   * How far its latest event is behind the newest that it could read, in milliseconds of event
   * time, estimated; 0 if it has caught up. Absent if it never falls behind.
   */
  readonly behindMs?: () => number;
  /** Progress of reading its past; `undefined` when it is read. */
  readonly filling?: () => Filling | undefined;
  readonly parts?: () => readonly FeedPart[];
  /** Number of trades that were dropped because their blocks replaced published ones, by part. */
  readonly replaced?: () => Readonly<Record<string, number>>;
  /** State of the external services that the feed queries, always in the same order. */
  readonly services?: () => readonly ServiceReport[];
}

/** How much of a feed's past has been read, in milliseconds of event time. */
export interface Filling {
  readonly readMs: number;
  /** Length of the past to read. */
  readonly ofMs: number;
}

export interface FeedPart {
  readonly name: string;
  /** `live`: contributing. `stale`: not contributing at the moment. `down`: failed for good. */
  readonly state: "live" | "stale" | "down";
  /** A sentence that explains a state other than `live`, or reports a problem; otherwise empty. */
  readonly reason: string;
  /** Event time reached so far; `undefined` before the first event. */
  readonly observedAtMs: number | undefined;
  /** Milliseconds since `observedAtMs` advanced, or since the start; at least `behindMs`. */
  readonly ageMs: number;
  /** Number of an aggregator's reports that arrived too late for the market. */
  readonly late: number;
  readonly filling: Filling | undefined;
}

/** The state of an external service. Counts are since the start. */
export interface ServiceReport {
  /** The part of the market that queries it: `bsc`, `exchange`, `enrich`. */
  readonly part: string;
  /**
   * `binance`, `coingecko`, or an endpoint's host, with `wss://` for a WebSocket: never the whole
   * address, which may contain a key.
   */
  readonly service: string;
  /** Whether its last response was valid. */
  readonly isUp: boolean;
  /** Milliseconds since its last useful response; `undefined` before the first. */
  readonly ageMs: number | undefined;
  /** Milliseconds that it recently took to answer. */
  readonly latencyMs: number;
  /** Numbers of items in its responses that could not be read, by reason. */
  readonly unreadable: Readonly<Record<string, number>>;
  readonly requests: number;
  /** Failed requests, without refused ones. */
  readonly errors: number;
  /** Requests that it refused because there were too many or because it does not support them. */
  readonly refused: number;
  /** Milliseconds by which requests were delayed to stay within its limits. */
  readonly waitedMs: number;
}

/** How long one stage on the way from a live market to the clients takes. */
export interface StageLag {
  /**
   * `seen`: from the end of a second until a part has reported it. `waited`: from then until all
   * parts that the market waits for have. `judged`: until the engine has. `sent`: until the
   * sockets have the events.
   */
  readonly stage: "seen" | "waited" | "judged" | "sent";
  /** Empty for the stages of the whole market. */
  readonly part: string;
  /** Durations since the start. */
  readonly seconds: DurationHistogram["seconds"];
  /**
   * Median and 99th percentile of the last 300 durations, in milliseconds, without those older than
   * five minutes; `undefined` if there are none.
   */
  readonly recentMs: readonly [p50: number, p99: number] | undefined;
}

/** Keys of external services, by service. `undefined`: none. */
export type ServiceKeys = Readonly<Record<string, string | undefined>>;
