import type { LiquidityEvent, ListingEvent, MarketEvent, Trade } from "../../../src/base/market/index.ts";
import { RawMarket, type RawPrice } from "./record-script.ts";

/*
 * Computes the prices of a market of single trades by the definitions in src/engine/README.md:
 * dust, and which pool sets a token's price. It shares no code with the gateway.
 */

const MINUTE = 60_000;
const SPAN = 20_000;

interface Level {
  readonly at: number;
  readonly usd: number;
}

class RawPool {
  readonly name: string;
  usd = 0;
  atMs = Number.NEGATIVE_INFINITY;
  isListed = false;
  /** Its liquidity over time, oldest first. New liquidity counts only after a span. */
  levels: Level[] = [{ at: Number.NEGATIVE_INFINITY, usd: 0 }];
  volume = 0;
  volumeAt = 0;
  /** Factor of price conversions when it last set the price; 0 if that is too old. */
  scale = 0;

  constructor(name: string, atMs: number) {
    this.name = name;
    this.volumeAt = atMs;
  }

  /** Returns its minimum liquidity from the start of the previous span until now. */
  steady(atMs: number): number {
    const fromMs = (Math.floor(atMs / SPAN) - 1) * SPAN;
    while ((this.levels[1]?.at ?? fromMs) < fromMs) this.levels.shift();
    return Math.min(...this.levels.map(({ usd }) => usd));
  }

  /** Returns the dollars traded recently, whose weight decays by e^-0.1 per minute. */
  volumeOf(atMs: number): number {
    return this.volume * Math.exp(Math.min(0, this.volumeAt - atMs) / (10 * MINUTE));
  }
}

class RawToken {
  readonly pools = new Map<string, RawPool>();
  readonly prices: RawPrice[] = [];
  /** Total liquidity of its pools, by time. */
  readonly liquidity: Level[] = [];
  main: RawPool | undefined;
  firstPool = "";
  tookOver = Number.NEGATIVE_INFINITY;
  price = 0;
  pricePool = "";
  /** Factor that converts earlier prices to the pool that sets the price now. */
  scale = 1;

  minDepth(atMs: number): number {
    return 0.1 * Math.max(0, ...[...this.pools.values()].map((pool) => pool.steady(atMs)));
  }
}

/** Collects the prices of the tokens that can flare, event by event. */
export class RawTrades {
  readonly #tokens = new Map<string, RawToken>();
  /** Times of trades that are not dust. */
  readonly #heard: number[] = [];
  #clock = 0;

  note(event: MarketEvent): void {
    this.#clock = Math.max(this.#clock, event.at);
    if (event.at < this.#clock - 5_000) return;
    if (!("group" in event) || event.group !== "bsc") return;
    if (event.kind === "listing") this.#list(event);
    if (event.kind === "liquidity") this.#change(event);
    if (event.kind === "trade") this.#trade(event);
  }

  market(): RawMarket {
    const prices = new Map([...this.#tokens].map(([token, { prices }]) => [token, prices]));
    return new RawMarket(prices, { isCandle: false, heard: this.#heard });
  }

  /** Returns the dollars in the token's pools before a moment. */
  liquidityOf(token: string, atMs: number): number | undefined {
    return this.#tokens.get(token.toLowerCase())?.liquidity.findLast(({ at }) => at < atMs)?.usd;
  }

  #list({ token, pool, at, liquidity }: ListingEvent): void {
    const known = this.#tokenOf(token).pools.get(pool);
    if (known?.isListed) return;
    this.#hold(this.#tokenOf(token), pool, at, Number(liquidity), "listing").isListed = true;
  }

  #change({ token, pool, at, usd, cause }: LiquidityEvent): void {
    const known = this.#tokens.get(token.toLowerCase())?.pools.has(pool) ?? false;
    if (cause !== "remove" || known) this.#hold(this.#tokenOf(token), pool, at, Number(usd), cause);
  }

  #hold(token: RawToken, name: string, at: number, usd: number, cause: string): RawPool {
    const isFirst = [...token.pools.values()].every(
      (pool) => pool.name === name && pool.levels.every((level) => level.usd === 0),
    );
    const pool = token.pools.get(name) ?? new RawPool(name, at);
    token.pools.set(name, pool);
    if (token.pools.size > 16) throw new Error("this script knows no rule for more than 16 pools");
    const before = pool.steady(at);
    // The liquidity of a token's first pool counts at once.
    if (isFirst) pool.levels = [];
    pool.levels.push({ at, usd });
    [pool.usd, pool.atMs] = [usd, at];
    if (cause === "remove") moveTo(token, pool, before - usd);
    token.liquidity.push({ at, usd: [...token.pools.values()].reduce((sum, one) => sum + one.usd, 0) });
    const minDepth = token.minDepth(at);
    if (!token.main || token.price === 0 || token.main.usd < minDepth)
      token.main = busiest(token, minDepth, at);
    return pool;
  }

  #trade({ token: address, pool: name, at, price: text, quoteUsd }: Trade): void {
    const token = this.#tokenOf(address);
    const pool = token.pools.get(name);
    const usd = Math.min(Number(quoteUsd), pool?.steady(at) ?? Number.POSITIVE_INFINITY);
    const depth = pool && pool === token.main ? pool.usd : Math.max(pool?.usd ?? 0, token.main?.usd ?? 0);
    if (usd < Math.max(0.1, 5e-6 * depth)) return;
    if (!pool && token.main && token.firstPool !== name) return;
    const price = Number(text);
    const isOfMain = pool ? this.#takesPrice(token, pool, usd, price, at) : !token.main;
    if (token.firstPool === "") token.firstPool = name;
    if (at > (this.#heard.at(-1) ?? -1)) this.#heard.push(at);
    if (!isOfMain && token.price > 0) return;
    const last = token.prices.at(-1);
    if (last && at < last.at) return;
    if (token.price > 0 && token.pricePool !== name && token.main) {
      const scale = pool?.scale || (token.scale * price) / token.price;
      if (scale > 1e-6 && scale < 1e6) token.scale = scale;
    }
    if (pool) pool.scale = token.scale;
    [token.price, token.pricePool] = [price, name];
    // Prices are read at whole seconds only.
    if (last && Math.floor(last.at / 1_000) === Math.floor(at / 1_000)) token.prices.pop();
    token.prices.push({ at, price: price / token.scale });
  }

  /** Returns whether the pool sets the price, perhaps from this trade on. */
  #takesPrice(token: RawToken, pool: RawPool, usd: number, price: number, at: number): boolean {
    const minute = Math.floor(at / MINUTE) * MINUTE;
    if (minute > pool.volumeAt) {
      if (minute - pool.volumeAt > 10 * MINUTE) pool.scale = 0;
      [pool.volume, pool.volumeAt] = [pool.volumeOf(minute), minute];
    }
    pool.volume += usd;
    const { main } = token;
    if (pool === main) return true;
    if (token.pools.size > 1 && pool.steady(at) < token.minDepth(at)) return false;
    if (main && pool.volume <= 2 * main.volumeOf(minute)) return false;
    const isTraded = main !== undefined && main.volume > 0 && at - main.volumeAt < 10 * MINUTE;
    if (isTraded && pool.steady(at) < 4 * main.usd) {
      if (at - token.tookOver < 60 * MINUTE) return false;
      if (token.price > 0 && Math.abs(Math.log(price / token.price)) > 0.25) return false;
    }
    token.main = pool;
    token.tookOver = at;
    pool.scale = 0;
    return true;
  }

  #tokenOf(address: string): RawToken {
    const key = address.toLowerCase();
    const token = this.#tokens.get(key) ?? new RawToken();
    this.#tokens.set(key, token);
    return token;
  }
}

/** Counts liquidity that one pool loses at once in pools that gained at the same moment. */
function moveTo(token: RawToken, from: RawPool, usd: number): void {
  let left = usd;
  for (const pool of token.pools.values()) {
    if (pool === from || pool.atMs !== from.atMs || left <= 0) continue;
    const moved = Math.min(left, pool.usd - pool.steady(pool.atMs));
    pool.levels = pool.levels.map(({ at, usd: held }) => ({ at, usd: Math.min(pool.usd, held + moved) }));
    left -= moved;
  }
}

/** Returns the deep pool with the highest recent volume, of equal ones the deepest. */
function busiest(token: RawToken, minDepth: number, at: number): RawPool | undefined {
  const deep = [...token.pools.values()].filter((pool) => pool.steady(at) >= minDepth);
  return deep.sort((a, b) => b.volumeOf(at) - a.volumeOf(at) || b.usd - a.usd)[0];
}
