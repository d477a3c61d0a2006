import type { MarketEvent, MarketGroup, Trade } from "../../../base/market/index.ts";
import { decodeTransfer } from "./decode.ts";
import type { EvmLog } from "./evm-log.ts";
import { formatRatio, formatUnits, powerOfTen, USD_DECIMALS } from "./exact-decimal.ts";
import { isCanceled, LEG_DECIMALS, type Leg, type NetTrade, tradesOf } from "./people.ts";
import type { Pool, TrackedToken } from "./pool.ts";

/** Addresses that nobody owns: minted tokens come from them, and burned tokens go to them. */
const NOBODY = [`0x${"0".repeat(40)}`, `0x${"0".repeat(36)}dead`] as const;

/** One person's net trade of a token in one transaction. */
interface TokenTrade extends NetTrade {
  readonly token: TrackedToken;
}

/** The swaps of one transaction. */
export class TransactionSwaps {
  readonly hash: string;
  /** Tokens to whose pools liquidity was added. */
  readonly funded = new Set<TrackedToken>();
  /** Launchpads' curves whose funds were moved. */
  readonly graduated: Pool[] = [];
  readonly #sender: string;
  readonly #legs = new Map<TrackedToken, Leg[]>();
  readonly #emitters = new Set<string>();
  readonly #unfollowed = new Set<string>();
  readonly #depths = new Map<string, bigint>();

  constructor({ transactionHash, origin }: EvmLog) {
    this.hash = transactionHash;
    this.#sender = origin;
  }

  /** Records that the address behaves like a pool, so that it does not count as a person. */
  addPool(address: string): void {
    this.#emitters.add(address);
  }

  /** Records a swap in a pool that is not followed: only the token's transfers show its amount. */
  addUnfollowed(emitter: string): void {
    this.#unfollowed.add(emitter);
  }

  /**
   * Records the value of a pool's quote side in 10^−36 dollars. Call it before each change; the
   * first call counts.
   */
  addDepth(pool: string, dollars: () => bigint): void {
    if (!this.#depths.has(pool)) this.#depths.set(pool, dollars());
  }

  /** Records a swap. Call {@link addDepth} for its pool before. */
  add(token: TrackedToken, swap: Omit<Leg, "depth">): void {
    const leg = { ...swap, depth: this.#depths.get(swap.pool) ?? 0n };
    const legs = this.#legs.get(token);
    if (legs) legs.push(leg);
    else this.#legs.set(token, [leg]);
  }

  /**
   * Returns the people's trades.
   *
   * @param transfers Transfer logs of the transaction.
   */
  trades(transfers: readonly EvmLog[], isPool: (address: string) => boolean): readonly TokenTrade[] {
    return [...this.#legs].flatMap(([token, legs]) => {
      const flows = flowsOf(transfers, token.address);
      const others = [...this.#unfollowed].flatMap((emitter): Leg[] => {
        const followed = legs.filter((leg) => leg.emitter === emitter);
        const tokens = followed.reduce((rest, leg) => rest - leg.tokens, -(flows.get(emitter) ?? 0n));
        return tokens === 0n ? [] : [{ pool: emitter, emitter, tokens, dollars: undefined, depth: 0n }];
      });
      for (const address of flows.keys())
        if (this.#emitters.has(address) || isPool(address)) flows.delete(address);
      for (const address of [...NOBODY, token.address]) flows.delete(address);
      return tradesOf([...legs, ...others], flows, this.#sender).map((trade) => ({ ...trade, token }));
    });
  }
}

/**
 * Returns a block's events without sandwiches. The first and last leg of one are transactions in
 * the victim's pool, after which one person has about as many tokens as before. A purchase in
 * another pool, perhaps the person's own, cancels no sale.
 */
export function withoutSandwiches(events: readonly MarketEvent[]): MarketEvent[] {
  const nets = new Map<string, { bought: number; sold: number; trades: number }>();
  const keyOf = ({ token, trader, pool }: Trade) => `${token} ${trader} ${pool}`;
  for (const event of events) {
    if (event.kind !== "trade") continue;
    const net = nets.get(keyOf(event)) ?? { bought: 0, sold: 0, trades: 0 };
    net[event.side === "buy" ? "bought" : "sold"] += Number(event.amount);
    net.trades += 1;
    nets.set(keyOf(event), net);
  }
  return events.filter((event) => {
    const net = event.kind === "trade" ? nets.get(keyOf(event)) : undefined;
    return !net || net.trades < 2 || !isCanceled(net.bought, net.sold);
  });
}

/** Returns the trade as a market event. */
export function tradeEvent(
  { token, pool, tokens, dollars, price: [paid, amount], trader }: TokenTrade,
  at: number,
  group: MarketGroup,
): Trade {
  const units = tokens < 0n ? -tokens : tokens;
  return {
    kind: "trade",
    at,
    group,
    pool,
    token: token.address,
    side: tokens > 0n ? "buy" : "sell",
    price: formatRatio(paid * powerOfTen(token.decimals), amount * powerOfTen(LEG_DECIMALS)),
    amount: formatUnits(units, token.decimals),
    quoteUsd: formatUnits(dollars / powerOfTen(LEG_DECIMALS - USD_DECIMALS), USD_DECIMALS),
    trader,
  };
}

/** Returns the net change of each address's balance, by the token's own logs. */
function flowsOf(transfers: readonly EvmLog[], token: string): Map<string, bigint> {
  const flows = new Map<string, bigint>();
  for (const log of transfers) {
    const transfer = log.address === token ? decodeTransfer(log) : undefined;
    if (!transfer) continue;
    const { from, to, units } = transfer;
    flows.set(from, (flows.get(from) ?? 0n) - units);
    flows.set(to, (flows.get(to) ?? 0n) + units);
  }
  return flows;
}
