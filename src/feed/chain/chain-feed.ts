import type { Clock } from "../../lib/time/clock.ts";
import type { MarketEvent } from "../../market/index.ts";
import type { Feed } from "../feed.ts";
import type { Network } from "./network.ts";
import type { TranslatorBounds } from "./pools/block-translator.ts";
import type { EndpointPool } from "./rpc/endpoint-pool.ts";

/** What a chain is followed with. */
export interface ChainFeedOptions {
  readonly network: Network;
  /** Endpoints, `http(s)://` or `ws(s)://`; the network's public ones where there are none. */
  readonly urls?: readonly string[];
  readonly clock: Clock;
  /** Event time before the chain's head at which the feed begins. Default: an hour. Idle with `resumeAfterMs`. */
  readonly backfillMs?: number;
  /** Event time of the `clock` event that was told last by a feed before this one: what follows is told, and nothing twice. */
  readonly resumeAfterMs?: number;
  readonly bounds?: TranslatorBounds;
  /** Yields [0, 1), for the pauses after failures. Default `Math.random`. */
  readonly random?: () => number;
  /** Told what a person should know, in a sentence, and whether it is trouble. Addresses of endpoints are left out but for the host: the rest may be a key. */
  readonly onNotice?: (sentence: string, isTrouble: boolean) => void;
}

/**
 * The trades, listings and liquidity of a chain's pools, out of its final blocks, in the order of blocks and logs. Every block is proved by its own
 * header (see receipts-root.ts), linked to the one before, and where there are two endpoints or more the second must have the same. While no endpoint answers the feed says
 * nothing; it then goes on where it was, so an outage costs freshness but no event. Event time is the blocks' own.
 *
 * `events` throws where it can never go well: all endpoints of another chain, none of the network's factories on this one.
 */
export function createChainFeed(options: ChainFeedOptions): Feed {
  let isTaken = false;
  let asked: AskedPool | undefined;
  const onPool: OnPool = (pool) => {
    asked = pool;
  };
  return {
    name: options.network.name,
    origin: "live",
    facts: { trades: true, liquidity: true, listings: true, profiles: false },
    trouble: () => asked?.trouble,
    services: () => asked?.services(options.network.name) ?? [],
    events(signal) {
      if (isTaken) throw new Error("a chain feed can be iterated only once");
      isTaken = true;
      return follow(options, signal, onPool);
    },
  };
}

/** What a feed reports about its endpoints. */
type AskedPool = Pick<EndpointPool, "services" | "trouble">;

/** Is shown the endpoints when they begin to be asked. */
export type OnPool = (pool: AskedPool) => void;

/** What follows a chain is loaded when one is followed: its library would make every other start slower. */
async function* follow(
  options: ChainFeedOptions,
  signal: AbortSignal,
  onPool: OnPool,
): AsyncGenerator<MarketEvent> {
  const { followChain } = await import("./follow-chain.ts");
  yield* followChain(options, signal, onPool);
}
