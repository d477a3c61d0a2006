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
}
