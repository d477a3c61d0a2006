/*
 * Turns the swaps of one token within one transaction into trades of people. Pure.
 *
 * A swap is no trade if its taker swaps back: arbitrage between pools, the hops of an aggregator,
 * the legs of a sandwich. So each person's swaps are netted.
 *
 * The transaction's sender is the person if it received or gave the token. Otherwise it is a
 * relayer or a bundler, and the people are the addresses whose balance changed. A token's contract
 * writes its own Transfer logs and can name any address, so one swap stands for at most one person,
 * with an amount near the swap's. What remains: whoever makes forty real swaps in one transaction
 * for forty addresses counts as forty, as with forty wallets. Addresses are free on every chain;
 * the pools' fees and the detector's dust limit are what makes a crowd expensive.
 */

/** Decimals of {@link Leg.dollars}: those of a dollar amount and of a quote token. */
export const LEG_DECIMALS = 36;
/** The sender takes part if its balance changed by more than this share of all swaps. */
const SENDER_SHARE = 100n;
/** A person's amount may differ from that of the swap by a quarter, for tokens that take a fee. */
const MAX_FEE = 4n;
/**
 * Swaps both ways cancel out if the smaller side is at least nine tenths of the larger one. The
 * rest is profit, dust, or a token's fee of up to five percent on each of two transfers. Only a
 * taker who swaps both ways at once is affected, which people do not do.
 */
const CANCELED_SHARE = 0.9;
/** Parts of one order fill at nearly one price: within a tenth. */
const MAX_SPREAD = 10n;

/** One swap as its taker sees it. */
export interface Leg {
  readonly pool: string;
  /** The pool's contract, which has the tokens: its own or one of many pools. */
  readonly emitter: string;
  /** Who bought or sold by the contract's own report. */
  readonly account?: string;
  /** In the token's smallest unit; negative if the taker sold. */
  readonly tokens: bigint;
  /** In 10^−36 dollars, not negative; `undefined` if the swap has no price. */
  readonly dollars: bigint | undefined;
}

/** What one person bought or sold. */
export interface NetTrade {
  readonly trader: string;
  /** The pool with the largest part. */
  readonly pool: string;
  /** In the token's smallest unit; negative if the person sold. */
  readonly tokens: bigint;
  /** In 10^−36 dollars, not negative. */
  readonly dollars: bigint;
  /** What was paid in {@link pool}, in 10^−36 dollars, and for how many tokens. */
  readonly price: readonly [dollars: bigint, tokens: bigint];
}

interface Part {
  readonly pool: string;
  tokens: bigint;
  dollars: bigint;
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
  // Whoever swaps both ways within one transaction needs no money for it, and can name a crowd.
  if (areCanceled(legs)) return [];
  const order = new Map(legs.map((leg, index) => [leg, index]));
  const lastOf = (own: readonly Leg[]) => own.reduce((last, leg) => Math.max(last, order.get(leg) ?? 0), 0);
  return [...peopleOf(legs, flows, sender)]
    .map(([person, own]) => ({ person, own, last: lastOf(own) }))
    .toSorted((a, b) => a.last - b.last)
    .flatMap(({ person, own }) => netOf(person, own));
}

/** Returns whether buys and sells of so many tokens cancel out. */
export function isCanceled(bought: number, sold: number): boolean {
  return Math.min(bought, sold) >= CANCELED_SHARE * Math.max(bought, sold);
}

function areCanceled(legs: readonly Leg[]): boolean {
  const [bought, sold] = sumsOf(legs);
  return isCanceled(Number(bought), Number(sold));
}

function sumsOf(legs: readonly Leg[]): readonly [bought: bigint, sold: bigint] {
  const bought = legs.reduce((sum, { tokens }) => (tokens > 0n ? sum + tokens : sum), 0n);
  return [bought, legs.reduce((sum, { tokens }) => (tokens < 0n ? sum - tokens : sum), 0n)];
}

/** Assigns each swap to one person: who the pool names, unless that is a router. */
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
 * is one trade. A part at another price is a trade by itself: in a pool of one's own any price is
 * possible, and it must not count as that of the largest part's pool. Its price is that pool's own
 * for the same reason.
 */
function netOf(trader: string, legs: readonly Leg[]): readonly NetTrade[] {
  if (areCanceled(legs)) return [];
  const [bought, sold] = sumsOf(legs);
  const isBuy = bought > sold;
  const [more, less] = isBuy ? [bought, sold] : [sold, bought];
  const parts = partsOf(legs.filter(({ tokens }) => tokens > 0n === isBuy));
  const priced = parts.reduce((sum, { tokens }) => sum + tokens, 0n);
  // What is left of each group of parts, in proportion; the largest group takes the remainder.
  let left = (priced * (more - less)) / more;
  return groupsOf(parts)
    .toReversed()
    .flatMap(({ lead, tokens, dollars }, index, { length }) => {
      const units = index === length - 1 ? left : (tokens * (more - less)) / more;
      left -= units;
      if (units === 0n) return [];
      const paid = (dollars * units) / tokens;
      const price = [lead.dollars, lead.tokens] as const;
      return [{ trader, pool: lead.pool, tokens: isBuy ? units : -units, dollars: paid, price }];
    })
    .toReversed();
}

/** Adds up priced swaps by pool, the largest first. */
function partsOf(legs: readonly Leg[]): readonly Part[] {
  const parts = new Map<string, Part>();
  for (const { pool, tokens, dollars } of legs) {
    if (dollars === undefined) continue;
    const part = parts.get(pool) ?? { pool, tokens: 0n, dollars: 0n };
    part.tokens += abs(tokens);
    part.dollars += dollars;
    parts.set(pool, part);
  }
  return [...parts.values()].toSorted((a, b) => (a.tokens > b.tokens ? -1 : Number(a.tokens < b.tokens)));
}

/** Groups parts by price, each group by its largest part. */
function groupsOf(parts: readonly Part[]) {
  const groups: { lead: Part; tokens: bigint; dollars: bigint }[] = [];
  for (const part of parts) {
    const group = groups.find(({ lead }) => {
      const [own, other] = [part.dollars * lead.tokens, lead.dollars * part.tokens];
      return abs(own - other) * MAX_SPREAD <= other;
    });
    if (group) {
      group.tokens += part.tokens;
      group.dollars += part.dollars;
    } else groups.push({ lead: part, tokens: part.tokens, dollars: part.dollars });
  }
  return groups;
}

function abs(units: bigint): bigint {
  return units < 0n ? -units : units;
}
