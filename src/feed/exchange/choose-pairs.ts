import type { VenueName, VenuePair } from "./venue.ts";

/** What an exchange has now. */
export interface Listing {
  readonly venue: VenueName;
  readonly pairs: readonly VenuePair[];
  /** Quote volume of 24 hours, by pair. */
  readonly volumes: ReadonlyMap<string, number>;
}

/** A token, and the market in which it is followed. */
export interface FollowedPair {
  /** The token's symbol. */
  readonly token: string;
  readonly venue: VenueName;
  readonly pair: string;
}

/** What is followed. */
export interface Choice {
  /** Quote currencies, all taken for a dollar. */
  readonly quotes: readonly string[];
  /** Least quote volume of 24 hours. */
  readonly minVolume: number;
  /** Most tokens; the ones with the most volume. */
  readonly most: number;
}

/** A market that is followed stays so while it has this part of what a new one needs, and another has no more than its inverse times as much. */
const STAYS_AT = 0.5;

/** What is worth a dollar, or another currency of a state: its price is not news. */
const NOT_FOLLOWED = new Set(
  (
    "USDT USDC FDUSD TUSD USDP BUSD DAI USDD USDE USD1 USDS PYUSD RLUSD XUSD USTC SUSD GUSD LUSD FRAX USDG USDQ USDR EURI EURC EURT EURS AEUR EURQ EURR " +
    "USD EUR GBP AUD BRL TRY RUB UAH JPY MXN ARS PLN RON ZAR IDR NGN COP CZK BFUSD BNSOL WBETH WBTC"
  ).split(" "),
);
/** Leveraged tokens move by contract, not by what is traded in them: `BTC3L`, `ETH5S`. */
const LEVERAGED = /[A-Z]\d[LS]$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNFIT = /[\u0000-\u0020\u007f-\u009f]/;

interface Candidate extends FollowedPair {
  readonly volume: number;
}

/**
 * Which tokens are followed, and where: each in the one market, of all exchanges and quotes, in which most is traded, so that one name is one series of
 * prices even where two exchanges call different coins by it. `before` stays where it stands well enough; what is followed on an exchange that has no
 * listing now (it is down) stays as it is. Ordered by token.
 */
export function choosePairs(
  listings: readonly Listing[],
  before: ReadonlyMap<string, FollowedPair>,
  choice: Choice,
): ReadonlyMap<string, FollowedPair> {
  const known = new Set(listings.map(({ venue }) => venue));
  const best = new Map<string, Candidate>();
  const held = new Map<string, Candidate>();
  for (const candidate of candidatesOf(listings, choice)) {
    const { token, volume } = candidate;
    if (volume > (best.get(token)?.volume ?? 0)) best.set(token, candidate);
    const was = before.get(token);
    if (was?.venue === candidate.venue && was.pair === candidate.pair) held.set(token, candidate);
  }
  const kept = new Map([...before].filter(([, { venue }]) => !known.has(venue)));
  const chosen: Candidate[] = [];
  for (const [token, first] of best) {
    if (kept.has(token)) continue;
    const old = held.get(token);
    const stays = old && old.volume >= choice.minVolume * STAYS_AT && old.volume >= first.volume * STAYS_AT;
    if (stays) chosen.push(old);
    else if (first.volume >= choice.minVolume) chosen.push(first);
  }
  chosen.sort((one, two) => two.volume - one.volume);
  const followed = chosen.slice(0, Math.max(0, choice.most - kept.size));
  const all: readonly FollowedPair[] = [
    ...kept.values(),
    ...followed.map(({ token, venue, pair }) => ({ token, venue, pair })),
  ];
  return new Map(all.toSorted((one, two) => (one.token < two.token ? -1 : 1)).map((one) => [one.token, one]));
}

function* candidatesOf(listings: readonly Listing[], { quotes }: Choice): Generator<Candidate> {
  for (const { venue, pairs, volumes } of listings) {
    for (const { pair, base, quote } of pairs) {
      if (!quotes.includes(quote) || NOT_FOLLOWED.has(base) || LEVERAGED.test(base) || UNFIT.test(base))
        continue;
      yield { token: base, venue, pair, volume: volumes.get(pair) ?? 0 };
    }
  }
}
