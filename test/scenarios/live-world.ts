import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { NETWORKS, type NetworkName } from "../../src/feed/index.ts";
import { E18, Exchange } from "../feed/chain/exchange.ts";
import { wallet } from "../feed/chain/test-chain.ts";
import { StandIn } from "../feed/exchange/stand-in.ts";
import { FastClock } from "../support/fast-clock.ts";

const CHAINS = ["bsc", "polygon", "avalanche"] as const satisfies readonly NetworkName[];
type ChainName = (typeof CHAINS)[number];

/** How CoinGecko calls the chains. */
const PLATFORMS = { bsc: "binance-smart-chain", polygon: "polygon-pos", avalanche: "avalanche" } as const;
/** Seconds between two blocks. */
const BLOCK_S = { bsc: 1, polygon: 2, avalanche: 1 } as const;
const HISTORY_BLOCKS = 24;
const WALLETS = 12;
/** Time goes so many times as fast as it does. */
const PACE = 10;
/**
 * It begins so long ago, in seconds, that it does not get ahead of the gateway, which goes by the
 * machine's clock.
 */
const LEAD_S = 3 * 3_600;

interface World {
  readonly exchange: Exchange;
  /** Traded since long before. */
  readonly token: string;
}

/**
 * Three real chains on which blocks are made each second of a time that runs ten times as fast, an
 * exchange of the same time, and a service that lists their tokens.
 */
export class LiveWorld implements AsyncDisposable {
  readonly clock: FastClock;
  readonly market: StandIn;
  readonly #worlds: Readonly<Record<ChainName, World>>;
  readonly #coins = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(this.#listed()));
  });
  readonly #todo: (() => Promise<unknown>)[] = [];
  readonly #down = new Set<ChainName>();
  #isOver = false;
  #turning: Promise<void> = Promise.resolve();

  private constructor(worlds: Readonly<Record<ChainName, World>>) {
    this.#worlds = worlds;
    const startS = Math.max(...CHAINS.map((name) => worlds[name].exchange.chain.nextAt));
    this.clock = new FastClock(PACE, startS * 1_000);
    this.market = new StandIn(this.clock, [{ venue: "binance", base: "BTC", quoteVolume: 1e9 }]);
  }

  static async open(): Promise<LiveWorld> {
    const [bsc, polygon, avalanche] = await Promise.all(CHAINS.map(openWorld));
    if (!bsc || !polygon || !avalanche) throw new Error("a chain is missing");
    const world = new LiveWorld({ bsc, polygon, avalanche });
    await world.market.listen();
    await new Promise<void>((resolve) => world.#coins.listen(0, "127.0.0.1", resolve));
    world.#turning = world.#turn();
    return world;
  }

  tokenOf(chain: ChainName): string {
    return this.#worlds[chain].token;
  }

  /** What a gateway that lives here is told. */
  get flags(): readonly string[] {
    const { url, streamUrl } = this.market;
    const coins = `http://127.0.0.1:${(this.#coins.address() as AddressInfo).port}`;
    return [
      ...CHAINS.flatMap((name) => {
        const url = this.urlOf(name);
        return [`--${name}-rpc`, `${url.replace("http", "ws")},${url}`];
      }),
      ...["--exchanges", "binance", "--binance-url", url, "--binance-stream-url", streamUrl],
      ...["--enrich", "coingecko", "--coingecko-url", coins],
    ];
  }

  urlOf(chain: ChainName): string {
    return this.#worlds[chain].exchange.chain.url;
  }

  /** Lists a new token on a chain; yields its address. */
  async list(chain: ChainName, symbol: string): Promise<string> {
    const { exchange } = this.#worlds[chain];
    return this.#between(async () => {
      const token = await exchange.token(`${symbol} coin`, symbol);
      await exchange.addV2(token, 1_000_000n * E18, exchange.coin, 40n * E18);
      return token;
    });
  }

  /** Somebody buys of the token that was there before. */
  async trade(chain: ChainName): Promise<void> {
    const { exchange, token } = this.#worlds[chain];
    await this.#between(() => exchange.swapV2(wallet(1), E18 / 50n, [exchange.coin, token]));
  }

  /** Stops a chain's only node. */
  async stop(chain: ChainName): Promise<void> {
    await this.#between(async () => {
      this.#down.add(chain);
      await this.#worlds[chain].exchange.chain.stop();
    });
  }

  /** Starts it again, with the chain that it had. */
  async start(chain: ChainName): Promise<void> {
    await this.#between(async () => {
      await this.#worlds[chain].exchange.chain.start();
      this.#down.delete(chain);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    await this.#turning;
    await this.market[Symbol.asyncDispose]();
    this.#coins.closeAllConnections();
    await new Promise((resolve) => this.#coins.close(resolve));
    await Promise.all(CHAINS.map((name) => this.#worlds[name].exchange.chain[Symbol.asyncDispose]()));
  }

  #listed() {
    return CHAINS.map((name) => ({
      ...{ id: `${name}-coin`, symbol: name, name: `${name} coin` },
      platforms: { [PLATFORMS[name]]: this.#worlds[name].token },
    }));
  }

  /** Does something on a chain while no block is made. */
  #between<T>(work: () => Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#todo.push(() => work().then(resolve, reject));
    return promise;
  }

  async #turn(): Promise<void> {
    const never = new AbortController().signal;
    while (!this.#isOver) {
      for (const work of this.#todo.splice(0)) await work();
      const nowS = Math.floor(this.clock.now() / 1_000);
      const due = CHAINS.filter((name) => {
        const { nextAt } = this.#worlds[name].exchange.chain;
        return !this.#down.has(name) && nextAt - 1 + BLOCK_S[name] <= nowS;
      });
      await Promise.all(
        due.map((name) => {
          const { chain } = this.#worlds[name].exchange;
          chain.nextAt = Math.max(chain.nextAt, nowS);
          return chain.mine();
        }),
      );
      await this.clock.sleep(250, never);
    }
  }
}

/** A chain with an exchange, and a token that was traded for twelve minutes. */
async function openWorld(name: ChainName): Promise<World> {
  const exchange = await Exchange.openAs(NETWORKS[name], Math.floor(Date.now() / 1_000) - LEAD_S);
  const { chain, coin } = exchange;
  const token = await exchange.token(`${name} coin`, name.toUpperCase());
  await exchange.addV2(token, 1_000_000n * E18, coin, 100n * E18);
  for (let number = 0; number < WALLETS; number++) {
    await exchange.approve(wallet(number), coin);
    await exchange.approve(wallet(number), token);
    await chain.endow(coin, wallet(number), 1_000n * E18);
    await chain.endow(token, wallet(number), 10_000n * E18);
  }
  await chain.mine(30);
  for (let block = 0; block < HISTORY_BLOCKS; block++) {
    const isBuy = block % 2 === 0;
    await exchange.swapV2(
      wallet(block % WALLETS),
      isBuy ? E18 / 5n : 250n * E18,
      isBuy ? [coin, token] : [token, coin],
    );
    await chain.mine(30);
  }
  return { exchange, token };
}
