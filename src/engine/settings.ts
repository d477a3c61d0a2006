/**
 * The adjustable thresholds of the detector, the canary, the charts and the memory, with their
 * units, defaults and reasons. Durations have their unit in the name. Defaults marked *tuned* were
 * set by hand on the first half of eleven real days of twenty pairs, and checked on the second.
 */
export const DEFAULT_SETTINGS = {
  /**
   * Score above which a candle token may start to flare. Default 2.11: tuned. At 0, only the other
   * conditions decide; at 10, hardly a flare starts.
   */
  candleStartScore: 2.11,
  /**
   * The same for tokens with individual trades. Default 1.95: tuned on the simulated market. Such
   * tokens have more and sharper terms, and a pump raises all of them at once.
   */
  tradeStartScore: 1.95,
  /**
   * The same for tokens that only an aggregator reports on. Default 2.5: tuned on windows of the
   * simulated market's trades.
   */
  windowStartScore: 2.5,
  /** Assumed ratio of variance to mean of the buyers in five minutes of such tokens. Default 2. */
  windowDispersion: 2,
  /**
   * The same for seconds of a token of an exchange with individual trades. Default 3.6: tuned on 31
   * real pumps (Binance, 2020 to 2022).
   */
  secondsStartScore: 3.6,
  /** `candleStartScore` of such tokens: the seconds find fast rises. Default 3.4: tuned there. */
  slowStartScore: 3.4,
  /** Minimum log return of such a start, above the last minute's lowest price. Default 0.02. */
  secondsStartRise: 0.02,
  /** Minimum number of trades in the ten seconds. Default 15: tuned. */
  secondsTrades: 15,
  /** The seconds' bought money must be at least this many times the sold. Default 2. */
  secondsBuyRatio: 2,
  /** The bought money must be more than this many times the usual. Default 10. */
  secondsUsualRatio: 10,
  /** How long trades must have been known before their seconds are judged. Default 30 minutes. */
  secondsWarmUpMs: 1_800_000,
  /**
   * The seconds must have failed their start conditions for this long before they can start a flare
   * again, or be a surge of a running one. Default 2 minutes.
   */
  secondsQuietMs: 120_000,
  /**
   * Strength, as a multiple of the last known, from which a running flare surges, and from which a
   * start need not wait for the cool-down. Default 2.
   */
  strongerRatio: 2,
  /**
   * The same for candle tokens. Default 1.3: tuned. Most of their score is a logarithm, which
   * seldom doubles.
   */
  candleStrongerRatio: 1.3,
  /**
   * How long after a start or surge the strength may grow without being another surge. Default 5
   * minutes.
   */
  surgeAfterMs: 300_000,
  /** A flare ends as `reversed` when this share of its rise is lost. Default 0.5. */
  reversedShare: 0.5,
  /** How long it must stay lost. Default 15 seconds: a single trade is no fall. */
  reversedMs: 15_000,
  /**
   * How long a price must stand to be the top of a rise. Default 15 seconds: on a chain, anyone can
   * set a price for some blocks. On an exchange with individual trades, 1 second.
   */
  topMs: 15_000,
  /** Minimum log return of a rise that can be reversed. Default 0.02. */
  reversedRise: 0.02,
  /**
   * A flare whose price is below this share of its first is in no `free` list. Default two thirds.
   */
  fallenShare: 2 / 3,
  /** A new token below this liquidity is warned about while most of it can be withdrawn. */
  unlockedUsd: 200_000,
  /**
   * The finish threshold as a share of the start threshold, in (0, 1). Default 0.48: two thresholds
   * far apart keep a flare from flapping (hysteresis; Page 1954, Kleinberg 2002).
   */
  finishShare: 0.48,
  /**
   * Minimum market-neutral log return at the start of a candle token's flare. Default 0.0175:
   * tuned. At 0.025, half of a pump of 5 % is over before it can start.
   */
  candleStartRise: 0.0175,
  /**
   * The same for all other tokens. Default 0.02: tuned. Buyers distinguish a crowd from noise
   * before the price does.
   */
  tradeStartRise: 0.02,
  /**
   * The activity must exceed this at the start: the z of the buyers, which net buying raises by up
   * to `netActivity`; for candles, that of the volume. A running flare at or below it fades.
   * Default 1.
   */
  startActivity: 1,
  /**
   * Minimum distinct buyers of five minutes at the start, as counted by the decaying sum, where
   * buyers are known. Default 4: tuned on one half of 400 real pools. In an idle pool, fewer are
   * unusual too, but they are no crowd, and prices are as often lower as higher afterwards.
   */
  startBuyers: 4,
  /**
   * How many deviations of other launches count as 1 in the z of a token of less than an hour.
   * Default 0.55: tuned on one half of 400 real pools, so that fewer than one launch in five flares
   * within ten minutes. At 0.75, one in nine does.
   */
  launchDeviations: 0.55,
  /**
   * Consecutive minutes of candles, or reports of an aggregator, that must meet the start
   * conditions. Default 1.
   */
  candleStartTicks: 1,
  /** Consecutive scored seconds that must meet them, for trades. Default 3. */
  tradeStartTicks: 3,
  /**
   * A flare ends after the score has been below the finish threshold, the activity at most
   * `startActivity`, or the volume below the usual, for this long. Default 7 minutes: tuned. At 5,
   * one burst occasionally becomes two flares.
   */
  fadeMs: 420_000,
  /** Minimum duration of a flare without a grave canary warning. Default 5 minutes. */
  minimumFlareMs: 300_000,
  /** Cool-down after a flare, before the token can start another. Default 30 minutes: tuned. */
  coolDownMs: 1_800_000,
  /** A flare without trades or candle volume for this long ends as `silent`. Default 5 minutes. */
  silentMs: 300_000,
  /**
   * A flare with fewer trades than this in the last five minutes also ends as `silent`, if the feed
   * counts trades. Default 3.
   */
  silentTrades: 3,
  /**
   * Replaces `silentMs` and `silentTrades` while the whole group has no data, and for `silentMs`
   * afterwards. Default 15 minutes: an outage of the feed says nothing about its tokens.
   */
  outageMs: 900_000,
  /**
   * How long a group's trades must have been known before one of its tokens can flare. Default 10
   * minutes: the period that a flare shows. Does not apply to tokens listed since then, or if the
   * feed does not report since when it has known the trades.
   */
  observedMs: 600_000,
  /**
   * Minutes since a token's first candle, silent ones included, before it can flare: normal values
   * are unknown until then. Default 30.
   */
  candleWarmUp: 30,
  /** Time constant of all baselines. Default 6 hours: includes the session, but not yesterday. */
  baselineMs: 21_600_000,
  /**
   * Relative speed of the baselines while the score is above the finish threshold. Default 0.1: a
   * flare must not become normal.
   */
  frozenRate: 0.1,
  /** Time constant of the fast measurements: buyers, imbalance, volume. Default 5 minutes. */
  fastMs: 300_000,
  /**
   * The same for the volume of candle tokens. Default 2 minutes: tuned. At 5, a pump's volume shows
   * later.
   */
  candleFastMs: 120_000,
  /**
   * Time constant of the recent volume of candle tokens. Net buying is compared with the average of
   * this and the usual volume. Default 30 minutes: tuned.
   */
  recentMs: 1_800_000,
  /** Time constant of the long price reference. Default 30 minutes. */
  priceMs: 1_800_000,
  /**
   * Reduction of the burst (a cumulative sum of log returns) per minute, in deviations of a
   * one-minute return. Default 0.25: tuned. Page recommends half of the rise to detect. At 0.5, a
   * pair whose trades bounce between bid and ask lost half of a small pump.
   */
  burstDrift: 0.25,
  /**
   * Minimum deviation of a one-minute return when a burst is weighed. Default 0.005: tuned.
   * Otherwise every move of a calm pair would look rare, and few of them matter.
   */
  burstFloor: 0.005,
  /** Assumed deviation of a one-minute log return for an unknown token. Default 0.005. */
  priorVolatility: 0.005,
  /** Weight of that and other assumptions about a token, in minutes of evidence. Default 30. */
  priorMinutes: 30,
  /**
   * Minimum deviation when the rise above the average is weighed, as log return. Default 0.01.
   * Without it, the first tick of a dead market would count as ten deviations.
   */
  priceFloor: 0.01,
  /**
   * Bound on a minute's return when the volatility is updated, in deviations. Default 5: one burst
   * must not blind the detector for the rest of the day.
   */
  returnClip: 5,
  /**
   * Deviation of the tokens' betas. A market move of m blurs the price term by this share of m.
   * Default 0.5. 0 assumes that every token follows the market exactly.
   */
  betaSpread: 0.5,
  /**
   * Minimum deviation of the log of volume, except of candle tokens. Default 1: doubled volume
   * alone is not unusual.
   */
  volumeFloor: 1,
  /**
   * Minimum variance of the dollars bought minus sold, in that of the same trades with random
   * sides. Default 1.25: tuned. So four equal purchases and no sale are at most 1.8 deviations.
   */
  netSpread: 1.25,
  /** Floor of their deviation, as a share of the liquidity. Default 0.003: tuned. */
  netFloorShare: 0.003,
  /**
   * How much net buying may add to the z of the buyers to make the activity. Default 0.3: tuned.
   * The money of one person is no crowd.
   */
  netActivity: 0.3,
  /** Weights of the terms. Those that the feed supports are scaled to sum to 1. */
  weights: { buyers: 0.35, imbalance: 0.25, price: 0.3, volume: 0.1 },
  /** The same for the seconds of an exchange. */
  secondsWeights: { volume: 0.4, price: 0.4, rush: 0.1, imbalance: 0.1 },
  /**
   * The same for candle tokens, where buyers are unknown. Fitted on injected pumps
   * (`npm run evaluate -- --fit`), with more for the price than that, so that a token in an active
   * hour can start.
   */
  candleWeights: { price: 0.3, volume: 0.15, flow: 0.55 },
  /**
   * Maximum net buying of one candle, in minutes of the usual volume. Default 12: tuned. One order
   * is no crowd.
   */
  flowCap: 12,
  /**
   * Depth gate: required share κ of the quote inflow that moves an x·y=k pool as far as the price
   * rose. Default 0.3; 0 opens the gate.
   */
  depthShare: 0.3,
  /**
   * Depth gate where no pool's depth is known, as with candles: a rise needs more than this many
   * times the usual volume. Default 1.5.
   */
  volumeShare: 1.5,
  /** A candle's rise is fully backed by this many times the usual volume. Default 4: tuned. */
  backedBy: 4,
  /** Minimum backed share of a candle token's rise. Default 0.5: tuned; 0 opens this gate. */
  backedShare: 0.5,
  /** A group needs this many trading tokens for its medians to be used. Default 5. */
  marketMinimum: 5,
  /** Trades below this many dollars are dust, which is rejected. Default 0.1. 0 accepts all. */
  dustUsd: 0.1,
  /**
   * The same as a share of the liquidity: of the trade's pool or of the one that sets the price,
   * whichever is deeper. Default 0.000005: $5 in a pool of a million.
   */
  dustShare: 0.000_005,
  /** Canary: missing share of the recent liquidity that raises the warning. Default 0.5. */
  removedShare: 0.5,
  /** Canary: how long it must be missing. Default 1 minute: a moved position returns sooner. */
  removalGraceMs: 60_000,
  /**
   * The same if a removal emptied a pool of a flaring token. Default 4 seconds: with the second in
   * which it is noticed, the flare ends within 5. Liquidity moved in one or two blocks is back.
   */
  goneGraceMs: 4_000,
  /**
   * Time constant at which the reference liquidity adapts to a removal, which ends the warning.
   * Default 1 hour.
   */
  removalMs: 3_600_000,
  /** Canary: the price has collapsed at this share of the past hour's peak. Default 0.1: −90 %. */
  collapseShare: 0.1,
  /**
   * Canary: how long it must stay there if another pool is deeper than the one that sets the price.
   * Default 1 minute: arbitrage corrects a wrong price within that time.
   */
  collapseMs: 60_000,
  /**
   * Canary: distinct buyers in half an hour (in an aggregator's reports, an hour) from which
   * missing sellers are a warning. Default 25.
   */
  trapBuyers: 25,
  /**
   * Canary: fewer sellers than this share of the buyers count as missing. Default 0.03. A single
   * seller, perhaps the token's creator, always counts as missing.
   */
  trapSellerShare: 0.03,
  /**
   * Canary: how long there must have been that many buyers and so few sellers. Default 3 minutes:
   * nobody sells in the first minutes of an honest burst either.
   */
  trapMs: 180_000,
  /**
   * Canary: purchases within half an hour (in an aggregator's reports, five minutes) from which
   * buyers are judged. Default 12.
   */
  judgedBuys: 12,
  /** Canary: more purchases per buyer than this are a warning. Default 3. */
  buysPerBuyer: 3,
  /** Canary: share of repeated round trips in all dollars traded. Default 0.4. */
  roundTripShare: 0.4,
  /**
   * Canary: share of the distinct buyers beyond the usual, of half an hour or of five minutes, who
   * sold within 15 minutes of a purchase; at least of twice the usual buyers. Default 0.6. In
   * flares of the simulated market it is at most 0.54, in a wash of any number of wallets nearly 1.
   * It also warns where real buyers sell that fast, as after some launches.
   */
  quickSellerShare: 0.6,
  /** Canary: one wallet's share of the buying. Default 0.5. */
  oneBuyerShare: 0.5,
  /** Canary: fewer effective buyers (the inverse of the Herfindahl index) are a few. Default 6. */
  fewBuyers: 6,
  /**
   * Canary: lead of new wallets' purchases of equal size and interval. Default 10: of 4,000 series
   * of 60 purchases of one size at random moments, one reached it.
   */
  equalBuyers: 10,
  /**
   * Canary: minimum number and share of the first block's buyers who sold together, as counted by a
   * sum that decays over five minutes. Default 2.5: three at about the same time, and 0.4.
   */
  firstSellers: 2.5,
  firstSoldShare: 0.4,
  /** Canary: the least dollars of either crowd, as a share of half an hour's buys. Default 0.2. */
  suspectShare: 0.2,
  /**
   * Time without sufficient warnings before the canary turns off. Default 10 minutes, against
   * flapping.
   */
  canaryHoldMs: 600_000,
  /** Age from which a running flare can be in `free`. Default 5 minutes. */
  freeAgeMs: 300_000,
  /** How long a finished flare is listed. Default 24 hours. */
  finishedMs: 86_400_000,
  /**
   * Maximum number of finished flares in the list. Default 100. Flares that wait for their final
   * outcome may raise it up to tenfold.
   */
  maxFinished: 100,
  /**
   * Outcomes: a price is known at a moment if it is no older than this. Default 3 minutes. It must
   * be less than 5 minutes, or the first change could be from a price to itself.
   */
  outcomePriceMs: 180_000,
  /** Outcomes: the price has collapsed at this share of the flare's peak. Default 0.5: −50 %. */
  outcomeCollapseShare: 0.5,
  /** How long a listing is new. Default 15 minutes. */
  newestMs: 900_000,
  /** Maximum number of listings; older ones are dropped. Default 1,000. */
  maxListings: 1_000,
  /** Charts and medians: minimum dollars in the pools, if known. Default 5,000. 0 accepts all. */
  chartLiquidityUsd: 5_000,
  /**
   * Charts: minimum dollars traded recently, decaying over `fastMs` or, in an aggregator's reports,
   * in five minutes. Default 2. 0 accepts all.
   */
  chartTradedUsd: 2,
  /** Charts: minimum minutes of history, at least 2. Default 5. */
  chartMinutes: 5,
  /**
   * Charts: weight of the group's median variance, in active minutes of a token's own. Default 20.
   * 0 uses only the token's own.
   */
  chartPriorMinutes: 20,
  /**
   * A token without events other than profiles is forgotten after this, unless a list needs it.
   * Default 6 hours: no baseline is left.
   */
  forgetMs: 21_600_000,
  /**
   * The same for fewer than 5 trades, candles and reports in total. Default 1 hour: the chart is
   * flat.
   */
  forgetRareMs: 3_600_000,
  /**
   * Maximum number of tokens, of some kilobytes each, exceeded by up to a tenth between evictions;
   * the least recent are dropped first. Default 50,000.
   */
  maxTokens: 50_000,
  /** Maximum number of token profiles, traded or not. Default 100,000. */
  maxProfiles: 100_000,
  /** Bound on how far an event may lag behind or run ahead of the clock. Default 5 seconds. */
  lateMs: 5_000,
};

/** See {@link DEFAULT_SETTINGS}. */
export type DetectorSettings = Readonly<typeof DEFAULT_SETTINGS>;
