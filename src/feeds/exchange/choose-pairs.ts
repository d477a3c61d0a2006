import type { VenueName, VenuePair } from "./venue.ts";

export interface Listing {
  readonly venue: VenueName;
  readonly pairs: readonly VenuePair[];
  /** Volume of 24 hours by pair, in the pair's quote. */
  readonly volumes: ReadonlyMap<string, number>;
}

export interface FollowedPair {
  readonly token: string;
  readonly venue: VenueName;
  readonly pair: string;
  readonly quote: string;
}

interface Choice {
  /** Quote currencies. One unit of each counts as a dollar. */
  readonly quotes: readonly string[];
  readonly minVolume: number;
  /** Maximum number of tokens; those with the most volume are chosen. */
  readonly maxTokens: number;
}

/**
 * A followed market stays while it has this share of the minimum volume. Neither its volume nor the
 * preferred market's may be below this share of the other.
 */
const STAYS_AT = 0.5;
/** The exchange whose volumes are trusted. */
const PREFERRED: VenueName = "binance";

/** Currencies, stablecoins, and wrapped or staked coins: their own prices are not news. */
const NOT_FOLLOWED = new Set(
  (
    "USDT USDC FDUSD TUSD USDP BUSD DAI USDD USDE USD1 USDS PYUSD RLUSD XUSD USTC SUSD GUSD LUSD FRAX USDG USDQ USDR EURI EURC EURT EURS AEUR EURQ EURR " +
    "USD EUR GBP AUD BRL TRY RUB UAH JPY MXN ARS PLN RON ZAR IDR NGN COP CZK BFUSD BNSOL WBETH WBTC"
  ).split(" "),
);
/** Leveraged tokens move by contract, not by trades: `BTC3L`, `ETH5S`. */
const LEVERAGED = /[A-Z]\d[LS]$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern searches for them
const UNFIT = /[\u0000-\u0020\u007f-\u009f]/;

interface Candidate extends FollowedPair {
  readonly volume: number;
}

/**
 * Chooses the tokens to follow, each in one market. One name is then one series of prices, even if
 * two exchanges list different coins under it. See {@link preferredOf} for the choice of market.
 *
 * A market in `before` stays if it still qualifies and its volume is close to the preferred
 * market's (see {@link STAYS_AT}), but not if only the preferred market is on Binance. Markets of
 * an exchange without a listing all stay, because the exchange is down. So do markets whose volume
 * is unknown. Ordered by token.
 */
export function choosePairs(
  listings: readonly Listing[],
  before: ReadonlyMap<string, FollowedPair>,
  choice: Choice,
): ReadonlyMap<string, FollowedPair> {
  const byVenue = new Map(listings.map((listing) => [listing.venue, listing]));
  const unlisted = new Map(
    [...before].filter(([, { venue, pair }]) => {
      const { pairs, volumes } = byVenue.get(venue) ?? {};
      return !pairs || (!volumes?.has(pair) && pairs.some((one) => one.pair === pair));
    }),
  );
  const isCurrent = ({ token, venue, pair }: Candidate) => {
    const was = before.get(token);
    return was?.venue === venue && was.pair === pair;
  };
  const qualified = [...candidatesOf(listings, choice)].filter((one) => {
    const minVolume = choice.minVolume * (isCurrent(one) ? STAYS_AT : 1);
    return one.volume > 0 && one.volume >= minVolume && !unlisted.has(one.token);
  });
  const chosen = [...Map.groupBy(qualified, ({ token }) => token).values()].flatMap((markets) => {
    const preferred = preferredOf(markets);
    const current = markets.find(isCurrent);
    return current && preferred && stays(current, preferred) ? [current] : (preferred ?? []);
  });
  chosen.sort((one, two) => two.volume - one.volume);
  const followed = chosen.slice(0, Math.max(0, choice.maxTokens - unlisted.size));
  const all: readonly FollowedPair[] = [
    ...unlisted.values(),
    ...followed.map(({ token, venue, pair, quote }) => ({ token, venue, pair, quote })),
  ];
  return new Map(all.toSorted((one, two) => (one.token < two.token ? -1 : 1)).map((one) => [one.token, one]));
}

/** Says that no market of an exchange is good enough to be followed; `undefined` if one is. */
export function unfitnessOf(listing: Listing, choice: Choice): string | undefined {
  const isFit = ({ volume }: Candidate) => volume > 0 && volume >= choice.minVolume;
  if ([...candidatesOf([listing], choice)].some(isFit)) return undefined;
  return `lists ${listing.pairs.length} markets, of which none qualifies`;
}

/**
 * Returns the market on Binance if there is one, otherwise the one with the median volume of the
 * exchanges (of two, the lower). Each exchange reports its own volume, and the highest is the
 * likeliest to come from wash trading. So the highest wins only if no other exchange lists the
 * token. Of one exchange's quotes, the one with the most volume counts.
 */
function preferredOf(markets: readonly Candidate[]): Candidate | undefined {
  const best = new Map<VenueName, Candidate>();
  for (const one of markets) if (one.volume > (best.get(one.venue)?.volume ?? 0)) best.set(one.venue, one);
  const sorted = [...best.values()].toSorted((one, two) => one.volume - two.volume);
  return best.get(PREFERRED) ?? sorted[Math.floor((sorted.length - 1) / 2)];
}

/** Whether a followed market is good enough to stay in place of the preferred one. */
function stays(current: Candidate, preferred: Candidate): boolean {
  if (preferred.venue === PREFERRED && current.venue !== PREFERRED) return false;
  const [less, more] = [current.volume, preferred.volume].toSorted((one, two) => one - two);
  return (less ?? 0) >= (more ?? 0) * STAYS_AT;
}

function* candidatesOf(listings: readonly Listing[], { quotes }: Choice): Generator<Candidate> {
  for (const { venue, pairs, volumes } of listings) {
    for (const { pair, base, quote } of pairs) {
      if (!quotes.includes(quote) || NOT_FOLLOWED.has(base) || LEVERAGED.test(base) || UNFIT.test(base))
        continue;
      const volume = volumes.get(pair);
      if (volume !== undefined) yield { token: base, venue, pair, quote, volume };
    }
  }
}
