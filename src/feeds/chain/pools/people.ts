/*
 * Turns the swaps of one token within one transaction into trades of people. Pure.
 *
 * A swap is no trade if its taker swaps back: arbitrage between pools, the hops of an aggregator,
 * the legs of a sandwich. So each person's swaps are netted.
 *
 * The rules differ for purchases and sales, because an invented crowd is as misleading as a hidden
 * sale. Every sale cancels purchases: swapping both ways at once needs no money, and could imitate
 * a crowd. But a purchase cancels a sale only if its dollars are comparable and its pool held as
 * many before. Amounts of tokens prove nothing: anyone can deploy a contract that reports them at
 * any price, or at none, and can fill a pool with them in the same transaction.
 *
 * The transaction's sender is the person if it received or gave the token. Otherwise it is a
 * relayer or a bundler, and the people are the addresses whose balance changed. A token's contract
 * writes its own Transfer logs and can name any address. So one swap counts as at most one person,
 * with an amount near the swap's. One gap remains: forty real swaps in one transaction for forty
 * addresses count as forty people, even if one person made them. Forty wallets would do the same.
 * Addresses are free on every chain, and a pool can have no fee (Uniswap V4). So a fake crowd costs
 * gas, and the money that it leaves in the pool. The canary warns if that money is soon taken back.
 */

/** Decimals of {@link Leg.dollars}: the decimals of a dollar amount plus a quote token's. */
export const LEG_DECIMALS = 36;
/** The sender takes part if its balance changed by more than a hundredth of the tokens swapped. */
const SENDER_SHARE = 100n;
/** A person's amount may differ from the swap's by a quarter, for tokens that take a fee. */
const MAX_FEE = 4n;
/**
 * Swaps both ways cancel out if the smaller side is at least nine tenths of the larger one. The
 * rest is profit, dust, or a token's fee of up to five percent on each of two transfers. Only a
 * taker who swaps both ways at once is affected, which people do not do.
 */
const CANCELED_SHARE = 0.9;
/**
 * Purchases cancel a sale of at most twice their dollars. An arbitrageur usually sells for a few
 * percent more than it paid; pools at twice each other's price do not last. Without this bound, a
 * sale could be hidden behind a gift to oneself.
 */
const MAX_GAIN = 2n;
/** Parts of one order have nearly the same price: within a tenth. */
const MAX_SPREAD = 10n;

/** One swap as its taker sees it. */
export interface Leg {
  readonly pool: string;
  /** The contract that holds the pool's tokens: the pool's own, or one that many pools share. */
  readonly emitter: string;
  /** The account that bought or sold, if the contract reports it. */
  readonly account?: string;
  /** In the token's smallest unit; negative if the taker sold. */
  readonly tokens: bigint;
  /** In 10^−36 dollars, not negative; `undefined` if the swap has no price. */
  readonly dollars: bigint | undefined;
  /** Value of the pool's quote side before the transaction, in 10^−36 dollars. */
  readonly depth: bigint;
}

/** One person's net purchase or sale. */
export interface NetTrade {
  readonly trader: string;
  /** The pool with the largest amount. */
  readonly pool: string;
  /** In the token's smallest unit; negative if the person sold. */
  readonly tokens: bigint;
  /** In 10^−36 dollars, not negative. */
  readonly dollars: bigint;
  /** The price in {@link pool}: 10^−36 dollars, and the tokens traded for them. */
  readonly price: readonly [dollars: bigint, tokens: bigint];
}

interface PoolAmount {
  readonly pool: string;
  tokens: bigint;
  dollars: bigint;
}

/** Swaps both ways, in the token's smallest unit. */
interface Totals {
  /** Purchases with a price. */
  readonly bought: bigint;
  /** All sales, which can cancel `bought`. */
  readonly soldAgain: bigint;
  /** Sales with a price. */
  readonly sold: bigint;
  /** The part of the purchases that can cancel `sold`. */
  readonly boughtBack: bigint;
}

/**
 * Returns the trades of one token in one transaction, in the order of each person's last swap.
 *
 * @param flows Net change of each address's balance by the token's Transfer logs, without pools.
 * @param sender Signer of the transaction.
 */
export function tradesOf(
  legs: readonly Leg[],
  flows: ReadonlyMap<string, bigint>,
  sender: string,
): readonly NetTrade[] {
  const priced = legs.filter(isPriced);
  const order = new Map(priced.map((leg, index) => [leg, index]));
  const lastOf = (own: readonly Leg[]) => own.reduce((last, leg) => Math.max(last, order.get(leg) ?? 0), 0);
  const covered = coveredOf(legs);
  const { bought, soldAgain, sold, boughtBack } = totalsOf(legs, covered);
  const isBuying = !areCanceled(bought, soldAgain);
  const isSelling = !areCanceled(boughtBack, sold);
  const people = peopleOf(priced, flows, sender);
  return [...people]
    .map(([person, own]) => ({ person, own, last: lastOf(own) }))
    .toSorted((a, b) => a.last - b.last)
    .flatMap(({ person, own }) => netOf(person, people.size === 1 ? legs : own, covered))
    .filter(({ tokens }) => (tokens > 0n ? isBuying : isSelling));
}

/** Returns whether buys and sells of these amounts cancel out. */
export function isCanceled(bought: number, sold: number): boolean {
  return Math.min(bought, sold) >= CANCELED_SHARE * Math.max(bought, sold);
}

/** Returns whether a swap has a price above 0. Other swaps prove nothing about a person's money. */
function isPriced({ dollars }: Leg): boolean {
  return dollars !== undefined && dollars > 0n;
}

/** Adds up swaps both ways. */
function totalsOf(legs: readonly Leg[], covered: ReadonlySet<Leg>): Totals {
  const sells = legs.filter(({ tokens }) => tokens < 0n);
  const buys = legs.filter((leg) => leg.tokens > 0n && isPriced(leg));
  const [sold, received] = sumsOf(sells.filter(isPriced));
  const [back, paid] = sumsOf(buys.filter((leg) => covered.has(leg)));
  const most = received === 0n ? 0n : (MAX_GAIN * sold * paid) / received;
  const boughtBack = back < most ? back : most;
  return { bought: sumsOf(buys)[0], soldAgain: sumsOf(sells)[0], sold, boughtBack };
}

/**
 * Returns the purchases in pools that held at least the dollars that all purchases there cost. In a
 * pool of constant product, a larger purchase would more than quadruple the price.
 */
function coveredOf(legs: readonly Leg[]): ReadonlySet<Leg> {
  const buys = legs.filter((leg) => leg.tokens > 0n && isPriced(leg));
  const paidIn = (pool: string) => sumsOf(buys.filter((leg) => leg.pool === pool))[1];
  return new Set(buys.filter(({ pool, depth }) => paidIn(pool) <= depth));
}

/** Returns whether an amount and one in the opposite direction cancel out. */
function areCanceled(units: bigint, opposite: bigint): boolean {
  return isCanceled(Number(units), Number(opposite));
}

function sumsOf(legs: readonly Leg[]): readonly [tokens: bigint, dollars: bigint] {
  const tokens = legs.reduce((sum, leg) => sum + abs(leg.tokens), 0n);
  return [tokens, legs.reduce((sum, { dollars = 0n }) => sum + dollars, 0n)];
}

/**
 * Assigns each swap to one person: the account that the pool names, unless its balance did not
 * change accordingly, as for a router.
 */
function peopleOf(
  legs: readonly Leg[],
  flows: ReadonlyMap<string, bigint>,
  sender: string,
): ReadonlyMap<string, readonly Leg[]> {
  const named = Map.groupBy(legs, ({ account = "", tokens }) => {
    const flow = flows.size === 0 ? tokens : (flows.get(account) ?? 0n);
    return flow !== 0n && flow > 0n === tokens > 0n ? account : "";
  });
  const others = named.get("") ?? [];
  named.delete("");
  if (others.length === 0) return named;
  for (const [person, own] of takersOf(others, flows, sender))
    named.set(person, [...(named.get(person) ?? []), ...own]);
  return named;
}

/** Assigns each swap to one person by the changes of balances. */
function takersOf(
  legs: readonly Leg[],
  flows: ReadonlyMap<string, bigint>,
  sender: string,
): ReadonlyMap<string, readonly Leg[]> {
  const gross = legs.reduce((sum, { tokens }) => sum + abs(tokens), 0n);
  if (abs(flows.get(sender) ?? 0n) * SENDER_SHARE > gross) return new Map([[sender, legs]]);
  const candidates = [...flows]
    .filter(([address, units]) => units !== 0n && address !== sender)
    .toSorted(([, a], [, b]) => (abs(a) > abs(b) ? -1 : Number(abs(a) < abs(b))))
    .slice(0, legs.length);
  const people = new Map<string, readonly Leg[]>();
  const others: [string, bigint][] = [];
  const rest = [...legs];
  for (const [address, units] of candidates) {
    const leg = nearest(rest, units);
    if (!leg) {
      others.push([address, units]);
      continue;
    }
    rest.splice(rest.indexOf(leg), 1);
    people.set(address, [leg]);
  }
  if (rest.length === 0) return people;
  const isBuy = rest.reduce((sum, { tokens }) => sum + tokens, 0n) > 0n;
  const [principal] = others.find(([, units]) => units > 0n === isBuy) ?? [sender];
  return people.set(principal, rest);
}

/** Returns the swap of nearly that amount, the nearest of several. */
function nearest(legs: readonly Leg[], units: bigint): Leg | undefined {
  let best: Leg | undefined;
  for (const leg of legs) {
    const { tokens } = leg;
    if (tokens > 0n !== units > 0n) continue;
    const more = abs(tokens) > abs(units) ? abs(tokens) : abs(units);
    if (abs(tokens - units) * MAX_FEE > more) continue;
    if (!best || abs(tokens - units) < abs(best.tokens - units)) best = leg;
  }
  return best;
}

/**
 * Returns what remains of a person's swaps. An order that an aggregator splits over several pools
 * is one trade. An amount at another price is a separate trade: the owner of a pool can set any
 * price, and it must not count as the price of another pool. For the same reason, a trade has the
 * price of its largest amount's pool only.
 */
function netOf(trader: string, legs: readonly Leg[], covered: ReadonlySet<Leg>): readonly NetTrade[] {
  const { bought, soldAgain, sold, boughtBack } = totalsOf(legs, covered);
  return [
    ...remainderOf(trader, legs, 1n, areCanceled(bought, soldAgain) ? 0n : bought - soldAgain),
    ...remainderOf(trader, legs, -1n, areCanceled(boughtBack, sold) ? 0n : sold - boughtBack),
  ];
}

/** Returns the trades of that many tokens, if any, in one direction. */
function remainderOf(
  trader: string,
  legs: readonly Leg[],
  sign: 1n | -1n,
  remainder: bigint,
): readonly NetTrade[] {
  if (remainder <= 0n) return [];
  const amounts = amountsOf(legs.filter((leg) => leg.tokens * sign > 0n && isPriced(leg)));
  const all = amounts.reduce((sum, { tokens }) => sum + tokens, 0n);
  // Divide the remainder among the groups in proportion. The first group takes the rounding.
  let left = remainder;
  return groupsOf(amounts)
    .toReversed()
    .flatMap(({ lead, tokens, dollars }, index, { length }) => {
      const units = index === length - 1 ? left : (tokens * remainder) / all;
      left -= units;
      if (units === 0n) return [];
      const price = [lead.dollars, lead.tokens] as const;
      return [{ trader, pool: lead.pool, tokens: sign * units, dollars: (dollars * units) / tokens, price }];
    })
    .toReversed();
}

/** Adds up priced swaps by pool, the largest first. */
function amountsOf(legs: readonly Leg[]): readonly PoolAmount[] {
  const amounts = new Map<string, PoolAmount>();
  for (const { pool, tokens, dollars = 0n } of legs) {
    const amount = amounts.get(pool) ?? { pool, tokens: 0n, dollars: 0n };
    amount.tokens += abs(tokens);
    amount.dollars += dollars;
    amounts.set(pool, amount);
  }
  return [...amounts.values()].toSorted((a, b) => (a.tokens > b.tokens ? -1 : Number(a.tokens < b.tokens)));
}

/** Groups amounts by price, each group by its largest amount. */
function groupsOf(amounts: readonly PoolAmount[]) {
  const groups: { lead: PoolAmount; tokens: bigint; dollars: bigint }[] = [];
  for (const amount of amounts) {
    const group = groups.find(({ lead }) => {
      const [own, other] = [amount.dollars * lead.tokens, lead.dollars * amount.tokens];
      return abs(own - other) * MAX_SPREAD <= other;
    });
    if (group) {
      group.tokens += amount.tokens;
      group.dollars += amount.dollars;
    } else groups.push({ lead: amount, tokens: amount.tokens, dollars: amount.dollars });
  }
  return groups;
}

function abs(units: bigint): bigint {
  return units < 0n ? -units : units;
}
