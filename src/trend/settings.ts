/**
 * Every threshold of the detector, the canary, the charts and the memory, each with its unit, its default and why that.
 * Durations end in their unit. The defaults of what is *tuned* were set by hand on the first half of eleven real days of
 * twenty pairs, and looked at on the second.
 */
export interface DetectorSettings {
  /** Score above which a candle token may start to flare. Default 1.95: tuned. 0 starts on any rise; above 6 never starts. */
  readonly candleStartScore: number;
  /** The same for tokens whose single trades are known. Default 1.85: tuned on the simulated market; their terms are more and sharper, and all of them count at once in a pump. */
  readonly tradeStartScore: number;
  /** The finish threshold as a share of the start threshold, in (0, 1). Default 0.48: two thresholds far apart are what keeps a flare from flapping (hysteresis; Page 1954, Kleinberg 2002). */
  readonly finishShare: number;
  /** Least market-neutral log return at the start of a candle token's flare. Default 0.03, as log: 3 %. */
  readonly candleStartRise: number;
  /** The same for tokens whose single trades are known. Default 0.02: tuned; buyers tell a crowd from noise before the price does. */
  readonly tradeStartRise: number;
  /** Least z of the activity term at the start: volume for candles, buyers for trades. Default 1. */
  readonly startActivity: number;
  /** Candles in a row that must satisfy the start's conditions. Default 1: a candle is a minute already. */
  readonly candleStartTicks: number;
  /** Scored seconds in a row that must satisfy them, for trades. Default 3. */
  readonly tradeStartTicks: number;
  /** How long the score must stay below the finish threshold, or the burst be over, before the flare ends. Default 7 minutes: tuned. At 5 one burst becomes two flares now and then. */
  readonly fadeMs: number;
  /** A flare lasts at least this long, but for a hard canary. Default 5 minutes. */
  readonly minimumFlareMs: number;
  /** After a flare the token cannot start another for this long. Default 30 minutes: tuned, against flapping. */
  readonly coolDownMs: number;
  /** A flare without a trade, or a candle with volume, for this long ends as `silent`. Default 5 minutes. */
  readonly silentMs: number;
  /** The same for fewer trades than this in the last five minutes, where single trades are known. Default 3. */
  readonly silentTrades: number;
  /** The same while the whole group is not heard, or has just been heard again. Default 15 minutes: an outage of the feed says nothing of its tokens. */
  readonly outageMs: number;
  /** Candles a token must have shown before it may flare: without them nothing is known to be normal. Default 30. */
  readonly candleWarmUp: number;
  /** Time constant of all baselines. Default 6 hours: remembers the session, forgets yesterday. */
  readonly baselineMs: number;
  /** Rate of the baselines' update while the score is high, as a share. Default 0.1: a flare must not become its own normal. */
  readonly frozenRate: number;
  /** Time constant of the fast measurements: buyers, imbalance, volume. Default 5 minutes. */
  readonly fastMs: number;
  /** Time constant of the long price reference. Default 30 minutes. */
  readonly priceMs: number;
  /** What the burst (a cumulative sum of log returns) gives up a minute, in deviations of a one-minute return. Default 0.25: tuned. Half of the rise looked for, after Page; at 0.5 a pair whose trades bounce between bid and ask lost half of a small pump to it. */
  readonly burstDrift: number;
  /** Least deviation of a one-minute return when a burst is weighed against it. Default 0.005: tuned; in a calm pair every move would be rare, and few matter. */
  readonly burstFloor: number;
  /** Deviation of a one-minute log return that is assumed of a token of which nothing is known. Default 0.005. */
  readonly priorVolatility: number;
  /** How many minutes of evidence that assumption is worth. Default 30. */
  readonly priorMinutes: number;
  /** Least deviation of the price term, as log return. Default 0.01: a dead market's first tick is not ten deviations. */
  readonly priceFloor: number;
  /** A minute's return counts for the volatility as at most this many deviations. Default 5: one burst must not blind the rest of the day. */
  readonly returnClip: number;
  /** Deviation of how strongly single tokens follow the market: a market that moves by m blurs the price term by this share of m. Default 0.5; 0 trusts every token to follow exactly. */
  readonly betaSpread: number;
  /** Least deviation of the log of volume. Default 1: volume that merely doubles is nothing. */
  readonly volumeFloor: number;
  /** Weights of the terms; those that the feed supports are made to sum to 1. */
  readonly weights: {
    readonly buyers: number;
    readonly imbalance: number;
    readonly price: number;
    readonly volume: number;
  };
  /** The same for candle tokens, where volume stands in for buyers. */
  readonly candleWeights: { readonly imbalance: number; readonly price: number; readonly volume: number };
  /** Depth gate: the share κ of the quote inflow that the move takes on an x·y=k pool which must have come. Default 0.3; 0 opens the gate. */
  readonly depthShare: number;
  /** The depth gate of candles: a rise needs more than this many times the usual volume behind it. Default 1.5. */
  readonly volumeShare: number;
  /** How many times the usual volume a minute must have for its rise to count as fully backed. Default 4: tuned. */
  readonly backedBy: number;
  /** Share of a candle token's rise that must be backed. Default 0.6: tuned; 0 opens this gate. */
  readonly backedShare: number;
  /** Trading tokens that a group must have for its median to mean anything. Default 5. */
  readonly marketMinimum: number;
  /** Trades below this many dollars are dust: they set nobody's price and count as nobody's activity. Default 0.1. 0 takes all. */
  readonly dustUsd: number;
  /** The same as a share of the pool's liquidity. Default 0.000005: $5 in a pool of a million. */
  readonly dustShare: number;
  /** Canary: share of the recent liquidity that must be missing. Default 0.5. */
  readonly removedShare: number;
  /** Canary: how long it must be missing. Default 1 minute: a position that is moved is back by then. */
  readonly removalGraceMs: number;
  /** Time constant with which the recent liquidity follows a removal, and the warning is forgotten. Default 1 hour. */
  readonly removalMs: number;
  /** Canary: the price has collapsed at this share of the past hour's peak. Default 0.1: −90 %. */
  readonly collapseShare: number;
  /** Canary: how long it must stand there where another pool is deeper than the one that says so. Default 1 minute: a price that stands apart is brought into line by then. */
  readonly collapseMs: number;
  /** Canary: distinct buyers of half an hour from which on a lack of sellers is a warning. Default 25. */
  readonly trapBuyers: number;
  /** Canary: sellers, as a share of the buyers, that are hardly any. Default 0.03; one seller, perhaps the maker, always is. */
  readonly trapSellerShare: number;
  /** Canary: how long there must have been that many buyers and no seller. Default 3 minutes: of an honest burst too, nobody sells in the first. */
  readonly trapMs: number;
  /** Canary: purchases of half an hour from which on buyers are judged. Default 12. */
  readonly judgedBuys: number;
  /** Canary: purchases a buyer beyond which they repeat themselves. Default 3. */
  readonly buysPerBuyer: number;
  /** Canary: dollars of repeated round trips as a share of all. Default 0.4. */
  readonly roundTripShare: number;
  /** Canary: one wallet's share of the buying. Default 0.5. */
  readonly oneBuyerShare: number;
  /** How long the warnings must be gone before the canary is off. Default 10 minutes: it must not flap. */
  readonly canaryHoldMs: number;
  /** Age at which a running flare enters `free`. Default 5 minutes. */
  readonly freeAgeMs: number;
  /** How long a finished flare is listed. Default 24 hours. */
  readonly finishedMs: number;
  /** Most finished flares listed. Default 100. */
  readonly finishedMost: number;
  /** How long a listing is new. Default 15 minutes. */
  readonly newestMs: number;
  /** Most listings at once, the newest. Default 1,000. */
  readonly newestMost: number;
  /** Charts and group medians: least dollars in the pools, where the feed knows them. Default 5,000. 0 lets all in. */
  readonly chartLiquidityUsd: number;
  /** Charts: least dollars traded recently, decaying over `fastMs`, where single trades are known. Default 2. 0 lets all in. */
  readonly chartTradedUsd: number;
  /** Charts: least minutes of history. Default 5. */
  readonly chartMinutes: number;
  /** Charts: active minutes of evidence that the group's median variance is worth beside a token's own. Default 20; 0 trusts each token's own. */
  readonly chartPriorMinutes: number;
  /** A token without trade or candle for this long is forgotten. Default 6 hours: its baselines have faded by then. */
  readonly forgetMs: number;
  /** The same for a token with fewer than 5 trades or candles in all. Default 1 hour: its chart is flat by then. */
  readonly forgetStrangerMs: number;
  /** Most tokens held; those silent longest go first. Default 50,000, of some kilobytes each. */
  readonly tokensMost: number;
  /** Most profiles held of tokens, traded or not. Default 100,000. */
  readonly profilesMost: number;
  /** How much older than the clock an event may be. Default 5 seconds; an event may run ahead by as much. */
  readonly lateMs: number;
}

/** The settings that hold unless others are given. */
export const DEFAULT_SETTINGS: DetectorSettings = {
  candleStartScore: 1.95,
  tradeStartScore: 1.85,
  finishShare: 0.48,
  candleStartRise: 0.03,
  tradeStartRise: 0.02,
  startActivity: 1,
  candleStartTicks: 1,
  tradeStartTicks: 3,
  fadeMs: 420_000,
  minimumFlareMs: 300_000,
  coolDownMs: 1_800_000,
  silentMs: 300_000,
  silentTrades: 3,
  outageMs: 900_000,
  candleWarmUp: 30,
  baselineMs: 21_600_000,
  frozenRate: 0.1,
  fastMs: 300_000,
  priceMs: 1_800_000,
  burstDrift: 0.25,
  burstFloor: 0.005,
  priorVolatility: 0.005,
  priorMinutes: 30,
  priceFloor: 0.01,
  returnClip: 5,
  betaSpread: 0.5,
  volumeFloor: 1,
  weights: { buyers: 0.4, imbalance: 0.2, price: 0.25, volume: 0.15 },
  candleWeights: { imbalance: 0.2, price: 0.48, volume: 0.32 },
  depthShare: 0.3,
  volumeShare: 1.5,
  backedBy: 4,
  backedShare: 0.6,
  marketMinimum: 5,
  dustUsd: 0.1,
  dustShare: 0.000_005,
  removedShare: 0.5,
  removalGraceMs: 60_000,
  removalMs: 3_600_000,
  collapseShare: 0.1,
  collapseMs: 60_000,
  trapBuyers: 25,
  trapSellerShare: 0.03,
  trapMs: 180_000,
  judgedBuys: 12,
  buysPerBuyer: 3,
  roundTripShare: 0.4,
  oneBuyerShare: 0.5,
  canaryHoldMs: 600_000,
  freeAgeMs: 300_000,
  finishedMs: 86_400_000,
  finishedMost: 100,
  newestMs: 900_000,
  newestMost: 1_000,
  chartLiquidityUsd: 5_000,
  chartTradedUsd: 2,
  chartMinutes: 5,
  chartPriorMinutes: 20,
  forgetMs: 21_600_000,
  forgetStrangerMs: 3_600_000,
  tokensMost: 50_000,
  profilesMost: 100_000,
  lateMs: 5_000,
};
