import type { Notify } from "../../base/lib/notify.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import type { Feed } from "../../gateway/source/index.ts";
import { eventsOnce } from "../events-once.ts";
import type { ChainFollower } from "./follow-chain.ts";
import type { Network } from "./network.ts";

export interface ChainFeedOptions {
  readonly network: Network;
  /** Endpoints, `http(s)://` or `ws(s)://`. If empty, the network's public ones. */
  readonly urls?: readonly string[];
  readonly clock: Clock;
  /** How much of the past to read, in event time. Default: ten minutes. */
  readonly backfillMs?: number;
  /**
   * How much of the past to read first, with each event at its own time. The rest is read while the
   * present is followed. Default 90 seconds.
   */
  readonly presentMs?: number;
  /**
   * Event time of the last `clock` event of a previous feed. Later events follow, none twice. If
   * the newest final block is more than three minutes later, reports the gap, starts at the present
   * and reads the past meanwhile.
   */
  readonly resumeAfterMs?: number;
  /** How often to ask endpoints for their final block, in milliseconds. Default 1,000. */
  readonly pollEveryMs?: number;
  /** File that stores facts about pools and tokens. Default: memory only. */
  readonly factsFile?: string;
  /** Returns [0, 1), for the pauses after failures. Default `Math.random`. */
  readonly random?: () => number;
  /** Messages name endpoints by host only, because the rest of an address may be a key. */
  readonly notify?: Notify;
}

/**
 * Follows a chain's final blocks and emits the trades, listings and liquidity of its pools, and the
 * names of their tokens, in the order of blocks and transactions.
 *
 * Every block is verified against its own header (see receipts-root.ts) and must be the child of
 * the previous one. With two or more endpoints, a second must return the same block. The feed waits
 * for an endpoint that does not have the block yet, but not for one that fails or has stopped
 * advancing. While no endpoint responds, the feed is silent. Then it continues, so an outage delays
 * events but loses none. Events have the times of their blocks. Events of the past are dated when
 * they are read; trades and listings also state their own time.
 *
 * `events` throws if it can never succeed: every endpoint serves another chain, or the chain lacks
 * Multicall3, all of the network's factories or all of its quote tokens.
 */
export function createChainFeed(options: ChainFeedOptions): Feed {
  let follower: ChainFollower | undefined;
  return {
    name: options.network.name,
    origin: "live",
    facts: { trades: true, liquidity: true, listings: true, profiles: false },
    trouble: () => follower?.endpoints.trouble(options.network.name),
    behindMs: () => follower?.behindMs ?? 0,
    filling: () => follower?.filling,
    replaced: () => ({ [options.network.name]: follower?.replaced.dropped ?? 0 }),
    services: () => follower?.endpoints.services(options.network.name) ?? [],
    events: eventsOnce("a chain feed", async function* (signal) {
      // Loaded on demand, because the chain library would slow down every other start.
      const { ChainFollower } = await import("./follow-chain.ts");
      follower = new ChainFollower(options, signal);
      try {
        yield* follower.events();
      } finally {
        follower.close();
      }
    }),
  };
}
