import { type Clock, systemClock } from "../../src/base/lib/time/clock.ts";
import type { NetworkName } from "../../src/feeds/chain/networks.ts";
import { type NetworkId, StandInAggregator } from "../feeds/aggregator/stand-in.ts";
import { StandInServices } from "../feeds/enrich/stand-in-services.ts";
import { StandIn, type StandInPair } from "../feeds/exchange/stand-in.ts";
import { ChainEndpoint } from "../support/world/chain-endpoint.ts";
import { SyntheticChain } from "../support/world/synthetic-chain.ts";
import type { Density } from "../support/world/synthetic-market.ts";

export const WORLD_CHAINS = ["bsc", "polygon", "avalanche"] as const satisfies readonly NetworkName[];
type WorldChain = (typeof WORLD_CHAINS)[number];
/** The parts of the world that a test can stop. */
export const WORLD_PARTS = ["exchange", "aggregator", ...WORLD_CHAINS] as const;
export type WorldPart = (typeof WORLD_PARTS)[number];

/** Names of the chains at the services. */
const PLATFORMS = { bsc: "binance-smart-chain", polygon: "polygon-pos", avalanche: "avalanche" } as const;
const AGGREGATED: Readonly<Record<WorldChain, NetworkId>> = {
  bsc: "bsc",
  polygon: "polygon_pos",
  avalanche: "avax",
};
/** Number of public endpoints of each chain. */
const ENDPOINTS = { bsc: 3, polygon: 2, avalanche: 2 } as const;
/** Whether the first endpoint of the chain also pushes new heads over a WebSocket. */
const PUSHES = { bsc: true, polygon: false, avalanche: true } as const;
const QUIET: Density = { pools: 12, swaps: 6, pairs: 40, others: 2 };
const VENUES = ["binance", "kucoin", "gate"] as const;
/** The aggregator rejects every fifth request, even within its limit. */
const REFUSES_EACH = 5;

interface LiveWorldOptions {
  /** Default: the system clock, which a gateway in another process shares. */
  readonly clock?: Clock;
  readonly density?: Partial<Record<WorldChain, Density>>;
  /** Markets of each exchange. Default: 6. */
  readonly markets?: number;
  /** Endpoints respond without the usual delay of 100 to 200 ms. */
  readonly isNear?: boolean;
}

/**
 * All services that `--feed live` uses, as of November 2026: three chains with several endpoints
 * each, three exchanges, GeckoTerminal, and the services of token facts. It computes data on
 * request, except for the transactions that all blocks repeat. So it starts within a second and has
 * an unlimited past.
 */
export class LiveWorld implements AsyncDisposable {
  readonly exchanges: StandIn;
  readonly aggregator = new StandInAggregator();
  readonly services = new StandInServices();
  readonly chains: Readonly<Record<WorldChain, SyntheticChain>>;
  readonly #endpoints = new Map<WorldChain, readonly ChainEndpoint[]>();

  private constructor(options: LiveWorldOptions) {
    const { clock = systemClock, density = {}, markets = 6 } = options;
    const chainOf = (name: WorldChain) => new SyntheticChain(name, density[name] ?? QUIET, () => clock.now());
    this.chains = { bsc: chainOf("bsc"), polygon: chainOf("polygon"), avalanche: chainOf("avalanche") };
    const pairs = VENUES.flatMap((venue, index) =>
      Array.from({ length: markets }, (_, number): StandInPair => {
        const base = number === 0 ? "BTC" : `${venue.slice(0, 1).toUpperCase()}${number}`;
        return { venue, base, quoteVolume: 1e9 * (index + 1) };
      }),
    );
    this.exchanges = new StandIn(clock, pairs);
  }

  static async open(options: LiveWorldOptions = {}): Promise<LiveWorld> {
    const { clock = systemClock, isNear = false } = options;
    const world = new LiveWorld(options);
    await Promise.all([world.exchanges.listen(), world.aggregator.listen(), world.services.listen()]);
    for (const [seed, name] of WORLD_CHAINS.entries()) {
      const chain = world.chains[name];
      const opening = Array.from({ length: ENDPOINTS[name] }, (_, index) =>
        ChainEndpoint.open(chain, clock, seed * 100 + index + 1, isNear),
      );
      world.#endpoints.set(name, await Promise.all(opening));
      world.aggregator.trending.set(
        AGGREGATED[name],
        chain.market.pools.slice(0, 4).map(({ token, address }, index) => ({
          ...{ token, pool: address, symbol: `${name.slice(0, 3).toUpperCase()}${index}`, price: "0.5" },
        })),
      );
    }
    world.aggregator.refusesEach = REFUSES_EACH;
    world.services.coins = WORLD_CHAINS.flatMap((name) =>
      world.chains[name].market.pools.map(({ token }, index) => ({
        ...{ id: `${name}-coin-${index}`, symbol: name, name: `${name} coin` },
        platforms: { [PLATFORMS[name]]: token },
      })),
    );
    return world;
  }

  /** Lists a new token on a chain. Returns its address. */
  list(chain: WorldChain, symbol: string): string {
    return this.chains[chain].list(symbol);
  }

  /** Flags for a gateway that uses this world. */
  get flags(): readonly string[] {
    const { url, streamUrl } = this.exchanges;
    const { urls } = this.services;
    return [
      ...["--feed", "live"],
      ...WORLD_CHAINS.flatMap((name) => [`--${name}-rpc`, this.urlsOf(name).join()]),
      ...["--binance-url", url, "--binance-stream-url", streamUrl, "--kucoin-url", url],
      ...["--gate-url", url, "--gate-stream-url", streamUrl],
      ...["--geckoterminal-url", this.aggregator.url, "--coingecko-url", urls.coingecko],
      ...["--sourcify-url", urls.sourcify, "--dexscreener-url", urls.dexscreener],
    ];
  }

  /** Returns the chain's endpoints. */
  endpointsOf(chain: WorldChain): readonly ChainEndpoint[] {
    return this.#endpoints.get(chain) ?? [];
  }

  urlsOf(chain: WorldChain): readonly string[] {
    const urls = this.endpointsOf(chain).map(({ node }) => node.url);
    const [first = ""] = urls;
    return PUSHES[chain] ? [...urls, first.replace("http", "ws")] : urls;
  }

  /** Returns the number of requests to all services of a part. */
  requestsOf(part: WorldPart): number {
    if (part === "exchange") return this.exchanges.requests.length;
    if (part === "aggregator") return this.aggregator.asked.length;
    return this.endpointsOf(part).reduce((sum, { node }) => sum + node.asked.length, 0);
  }

  /** Makes a part fail for all clients. */
  stop(part: WorldPart): void {
    this.#setDown(part, true);
  }

  /** Ends the failure of a part. Its state has advanced meanwhile. */
  start(part: WorldPart): void {
    this.#setDown(part, false);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const endpoints = WORLD_CHAINS.flatMap((name) => this.endpointsOf(name));
    const servers = [this.exchanges, this.aggregator, this.services, ...endpoints];
    await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
  }

  #setDown(part: WorldPart, isDown: boolean): void {
    if (part === "aggregator") this.aggregator.mischief = isDown ? "500" : undefined;
    else if (part === "exchange") {
      for (const venue of VENUES) {
        if (isDown) this.exchanges.mischief.set(venue, "500");
        else this.exchanges.mischief.delete(venue);
        this.exchanges.cut(venue);
      }
    } else for (const { node } of this.endpointsOf(part)) node.isDown = isDown;
  }
}
