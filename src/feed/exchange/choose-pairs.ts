import type { VenueName, VenuePair } from "./venue.ts";

/** Current markets of an exchange. */
export interface Listing {
  readonly venue: VenueName;
  readonly pairs: readonly VenuePair[];
  /** Quote volume of 24 hours, by pair. */
  readonly volumes: ReadonlyMap<string, number>;
}

/** A token and the market in which it is followed. */
export interface FollowedPair {
  /** The token's symbol. */
  readonly token: string;
  readonly venue: VenueName;
  readonly pair: string;
}

/** Criteria for markets to follow. */
interface Choice {
  /** Quote currencies, all counted as a dollar. */
  readonly quotes: readonly string[];
  /** Minimum quote volume of 24 hours. */
  readonly minVolume: number;
  /** Maximum number of tokens; those with the most volume are chosen. */
  readonly most: number;
}

/**
 * A followed market stays while it has this share of the minimum volume, and while no other has
 * more than the inverse times its volume.
 */
const STAYS_AT = 0.5;

/** Stablecoins and other currencies, whose prices are not news. */
const NOT_FOLLOWED = new Set(
  (
    "USDT USDC FDUSD TUSD USDP BUSD DAI USDD USDE USD1 USDS PYUSD RLUSD XUSD USTC SUSD GUSD LUSD FRAX USDG USDQ USDR EURI EURC EURT EURS AEUR EURQ EURR " +
    "USD EUR GBP AUD BRL TRY RUB UAH JPY MXN ARS PLN RON ZAR IDR NGN COP CZK BFUSD BNSOL WBETH WBTC"
  ).split(" "),
);
/** Leveraged tokens move by contract, not by trades: `BTC3L`, `ETH5S`. */
const LEVERAGED = /[A-Z]\d[LS]$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNFIT = /[\u0000-\u0020\u007f-\u009f]/;

interface Candidate extends FollowedPair {
  readonly volume: number;
}

/**
 * Chooses the tokens to follow, each in the one market with the most volume of all exchanges and
 * quotes. One name is then one series of prices, even if two exchanges list different coins under
 * it. Markets in `before` stay if they qualify; those of an exchange without a listing, which is
 * down, stay unchanged. Ordered by token.
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
