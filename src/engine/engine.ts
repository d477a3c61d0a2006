import { MINUTE_MS, SECOND_MS, startOf } from "../base/lib/time/time.ts";
import type { FeedFacts, MarketEvent, MarketGroup, Observed, TokenEvent } from "../base/market/index.ts";
import { byGroup, type Explanation, type FinishCause, GROUPS, type Snapshot } from "../base/model/index.ts";
import { AllFlares } from "./all-flares.ts";
import { BuyerRatePriors } from "./detect/buyer-rate-priors.ts";
import { Detector, type Measured } from "./detect/detector.ts";
import { Launches } from "./detect/launches.ts";
import { lockedOf } from "./detect/locked.ts";
import { createMarket, type Markets, noteHeard } from "./detect/market.ts";
import { awaitsLiquidity, liquidityText } from "./detect/pools.ts";
import { flareStartOf, type OddsBook, oddsOf } from "./odds-book.ts";
import { DEFAULT_SETTINGS, type DetectorSettings } from "./settings.ts";
import { type EngineState, isInUse, type StateWatcher } from "./state/engine-state.ts";
import { beginningOf, type EventNumbers, isEvent, isGroup, isTime, readEvent } from "./state/event-reader.ts";
import { Intake } from "./state/intake.ts";
import { createRejections, type Rejections, type RejectReason } from "./state/rejection.ts";
import { ProfileStore } from "./state/token-profile.ts";
import { TokenRegistry } from "./state/token-registry.ts";
import { isOnWatch, type TokenState } from "./state/token-state.ts";
import { FlareCandles } from "./views/flare-candles.ts";
import { ageInSeconds, viewExplanation } from "./views/flare-view.ts";
import { inspectTrend, type TrendInspection } from "./views/inspection.ts";
import { NewestListings } from "./views/newest-listings.ts";
import { OutcomeTracker } from "./views/outcome-tracker.ts";
import { Rankings } from "./views/rankings.ts";

/** Maximum number of events buffered before the first clock event. */
const MAX_WAITING = 10_000;
/** A group's medians are measured again before a token is judged if they are older than this. */
const MEASURE_MS = 10_000;

interface TrendEngineOptions {
  /** The facts that the feed reports. Canary, minimums and filters need them. Default: all. */
  readonly facts?: FeedFacts;
  /**
   * Event time between updates of prices and counts. Default 5,000. Rounded to whole seconds, at
   * least one. Lists are checked every second regardless.
   */
  readonly refreshMs?: number;
  /** Overrides of {@link DEFAULT_SETTINGS}. */
  readonly settings?: Partial<DetectorSettings>;
  /** Opens the book of odds with a checkpoint's state, if any. Default: flares have no odds. */
  readonly openOdds?: (state: unknown) => OddsBook;
}

/**
 * Turns market events into snapshots. Pure: a snapshot depends on the options and events alone, not
 * on earlier calls of {@link snapshot}.
 *
 * The snapshot changes at whole seconds of event time. A second ends with the first event or clock
 * at or after its end. A live candle belongs to the minute that ends at its time. It must arrive
 * before the clock passes that time, or within `lateMs` after it. In the second case, it amends the
 * minute.
 */
export class TrendEngine {
  readonly #settings: DetectorSettings;
  readonly #refreshMs: number;
  readonly #tokens: TokenRegistry;
  readonly #profiles: ProfileStore;
  readonly #priors: BuyerRatePriors;
  readonly #launches: Launches;
  readonly #markets: Markets;
  readonly #detector: Detector;
  readonly #flares: AllFlares;
  readonly #odds: OddsBook | undefined;
  readonly #outcomes: OutcomeTracker;
  readonly #candles: FlareCandles;
  readonly #newest: NewestListings;
  readonly #rankings: Rankings;
  readonly #intake: Intake;
  readonly #rejected: Rejections;
  readonly #numbers: EventNumbers = { price: 0, open: 0, usd: 0 };
  #touched: TokenState[] = [];
  /** Tokens whose missing liquidity may come back. They are judged every second until then. */
  #inGrace: TokenState[] = [];
  #clockMs: number;
  /** The last closed second. */
  #stepMs: number;
  #nextMinuteMs: number;
  /** The next second with work to do. */
  #dueMs = Number.POSITIVE_INFINITY;
  /** A clock event has been seen. Events far ahead of the clock are rejected from then on. */
  #hasClock: boolean;
  /** Events before the first clock event, whose times may be far in the future. */
  #waiting: MarketEvent[];
  #served: Snapshot | undefined;
  #watcher: StateWatcher | undefined;
  /** The tokens that the watched state's next second may change. */
  #inUse: readonly TokenState[] = [];

  /** @param state Continues from this {@link state} of an engine with equal options. */
  constructor(options: TrendEngineOptions = {}, state?: EngineState) {
    const facts = options.facts ?? { trades: true, liquidity: true, listings: true, profiles: true };
    const settings = { ...DEFAULT_SETTINGS, ...options.settings };
    this.#settings = settings;
    this.#refreshMs = Math.max(1, Math.round((options.refreshMs ?? 5_000) / SECOND_MS)) * SECOND_MS;
    const profiles = new ProfileStore(settings.maxProfiles, new Map(state?.profiles));
    this.#profiles = profiles;
    this.#tokens = new TokenRegistry(settings, profiles);
    this.#priors = new BuyerRatePriors(settings, state?.priors);
    this.#markets = { ...byGroup(createMarket), ...state?.markets };
    this.#launches = new Launches(settings, state?.launches);
    this.#detector = new Detector(settings, facts, this.#markets, this.#priors, this.#launches);
    this.#flares = new AllFlares(settings, state?.finished);
    this.#odds = options.openOdds?.(state?.odds);
    const tokensOf = (group: MarketGroup) => this.#tokens.of(group);
    this.#outcomes = new OutcomeTracker(settings, this.#detector, tokensOf, this.#odds);
    this.#candles = new FlareCandles(state?.stepMs ?? 0);
    this.#newest = new NewestListings(settings, state?.newest);
    this.#rankings = new Rankings(facts, settings, state?.standings);
    this.#rejected = state?.rejected ?? createRejections();
    this.#clockMs = state?.clockMs ?? -1;
    this.#stepMs = state?.stepMs ?? -1;
    this.#nextMinuteMs = state?.nextMinuteMs ?? 0;
    this.#hasClock = state?.hasClock ?? false;
    this.#waiting = [...(state?.waiting ?? [])];
    const stores = { tokens: this.#tokens, profiles, priors: this.#priors, newest: this.#newest };
    this.#intake = new Intake({ settings, ...stores, detector: this.#detector });
    for (const token of state?.tokens ?? []) this.#resume(token);
    if (state) this.#plan();
  }

  /** Processes one event. Never throws: an unusable event only counts in {@link rejected}. */
  accept(event: MarketEvent): void {
    if (!isEvent(event)) this.#rejected.malformed += 1;
    else if (this.#hasClock) this.#enterOrReject(event);
    else this.#await(event);
  }

  /** Number of unusable events by reason. */
  get rejected(): Readonly<Record<RejectReason, number>> {
    return this.#rejected;
  }

  /** Event time reached so far, in milliseconds since 1970 UTC; 0 before the first event. */
  get clockMs(): number {
    return Math.max(0, this.#clockMs);
  }

  /**
   * When time alone may next change the snapshot: `clockMs` if it has changed, Infinity if never.
   */
  get nextChangeAtMs(): number {
    return this.#isDirty() ? this.clockMs : this.#dueMs;
  }

  get tokenCount(): number {
    return this.#tokens.count;
  }

  /** Returns the state at the last closed second. Unchanged parts are the same objects. */
  snapshot(): Snapshot {
    if (this.#served && !this.#isDirty()) return this.#served;
    const { charts, leaderboards } = this.#rankings.serve();
    const newest = this.#newest.serve();
    const candles = this.#candles.serve();
    this.#served = { ...this.#flares.serve(), newest, charts, leaderboards, candles };
    return this.#served;
  }

  /** Tells only this watcher of changes to the present {@link state}, or nobody. */
  watch(watcher: StateWatcher | undefined): void {
    this.#watcher = watcher;
    this.#inUse = watcher ? this.#tokens.all().filter(isInUse) : [];
  }

  /** Returns the complete state. The engine continues to change it: see {@link watch}. */
  state(): EngineState {
    return {
      clockMs: this.#clockMs,
      stepMs: this.#stepMs,
      nextMinuteMs: this.#nextMinuteMs,
      hasClock: this.#hasClock,
      rejected: this.#rejected,
      tokens: this.#tokens.all(),
      profiles: this.#profiles.entries,
      priors: new Map(this.#priors.buckets),
      launches: new Map(this.#launches.sums),
      markets: this.#markets,
      finished: [...this.#flares.finished],
      newest: [...this.#newest.items],
      standings: this.#rankings.served,
      waiting: this.#waiting,
      odds: this.#odds?.state,
    };
  }

  /** Returns a token's present trend, to measure the detector; `undefined` if it is unknown. */
  trendOf(group: MarketGroup, token: string): TrendInspection | undefined {
    const found = this.#find(group, token);
    return found && inspectTrend(found);
  }

  /** Returns the detector's current numbers for a token; `undefined` if the token is unknown. */
  readingOf(group: MarketGroup, token: string): Explanation | undefined {
    const found = this.#find(group, token);
    if (!found) return undefined;
    const { trades, candle } = found;
    const copy = { ...found, trades: trades && { ...trades }, candle: candle && { ...candle } };
    return this.#explain(copy, this.clockMs);
  }

  #find(group: MarketGroup, token: string): TokenState | undefined {
    const key = this.#tokens.keyOf(group, token);
    return key === undefined ? undefined : this.#tokens.find(group, key);
  }

  #resume(token: TokenState): void {
    this.#tokens.add(token);
    this.#rankings.resume(token);
    if (token.flare) this.#flares.of(token).resume(token);
    this.#outcomes.resume(token);
    this.#candles.resume(token);
    if (token.isTouched) this.#touched.push(token);
  }

  #isDirty(): boolean {
    const isListDirty = this.#flares.isDirty || this.#newest.isDirty || this.#rankings.isDirty;
    return !this.#served || isListDirty || this.#candles.isDirty;
  }

  /** Buffers events until the first clock event, because one far ahead must not set the time. */
  #await(event: MarketEvent): void {
    if (event.kind !== "clock") {
      const reason = this.#check(event) ?? (this.#waiting.length < MAX_WAITING ? undefined : "ahead");
      if (reason === undefined) this.#waiting.push(event);
      else this.#rejected[reason] += 1;
      return;
    }
    const waiting = this.#waiting;
    this.#waiting = [];
    const latestMs = event.at + this.#settings.lateMs;
    for (const earlier of waiting) {
      if (earlier.at > latestMs) this.#rejected.ahead += 1;
      else this.#enterOrReject(earlier);
    }
    this.#enterOrReject(event);
  }

  #enterOrReject(event: MarketEvent): void {
    const reason = this.#take(event);
    if (reason !== undefined) this.#rejected[reason] += 1;
  }

  #take(event: MarketEvent): RejectReason | undefined {
    if (event.kind === "clock") return this.#admit(event.at, event.at, true);
    const wrong = this.#check(event);
    if (wrong) return wrong;
    const refused = this.#admit(beginningOf(event), event.at, false);
    if (refused) return refused;
    if (event.kind === "observed") {
      this.#markets[event.group].sinceMs = event.since;
      return undefined;
    }
    const changed = this.#watcher && this.#find(event.group, event.token);
    if (changed) this.#watcher?.beforeChange([changed]);
    const count = this.#tokens.count;
    const entered = this.#intake.enter(event, this.#numbers, this.#nextMinuteMs);
    if (this.#tokens.count !== count || event.kind === "listing") this.#plan();
    if (typeof entered === "string") return entered;
    // The token of a past trade is judged at the end of the minute, or with its next live trade.
    if (event.kind === "trade" && event.tradedAt !== undefined) return undefined;
    if (event.kind === "trade" || event.kind === "candle" || event.kind === "window")
      noteHeard(this.#markets[event.group], event.at);
    // The token of a late candle is judged with the next second, others when the minute ends.
    if (entered && (event.kind !== "candle" || event.at < this.#nextMinuteMs)) this.#touch(entered);
    return undefined;
  }

  /** Returns why the event itself is invalid, or stores its amounts in `#numbers`. */
  #check(event: TokenEvent | Observed): RejectReason | undefined {
    if (event.kind === "observed")
      return isGroup(event.group) && isTime(event.since) ? undefined : "malformed";
    if (!isGroup(event.group) || this.#tokens.keyOf(event.group, event.token) === undefined) return "token";
    return readEvent(event, this.#numbers);
  }

  /**
   * Advances the clock to the beginning of an event. Returns why not if its times do not allow
   * that.
   */
  #admit(fromMs: number, atMs: number, isClock: boolean): RejectReason | undefined {
    if (this.#clockMs < 0) {
      this.#clockMs = fromMs;
      this.#stepMs = startOf(SECOND_MS, fromMs);
      this.#nextMinuteMs = (Math.floor(fromMs / MINUTE_MS) + 1) * MINUTE_MS;
    }
    if (atMs < this.#clockMs - this.#settings.lateMs) return "late";
    if (!isClock && this.#hasClock && fromMs > this.#clockMs + this.#settings.lateMs) return "ahead";
    this.#hasClock ||= isClock;
    while (this.#dueMs <= fromMs) this.#step(this.#dueMs);
    this.#clockMs = Math.max(this.#clockMs, fromMs);
    if (this.#nextMinuteMs <= this.#clockMs)
      this.#nextMinuteMs = (Math.floor(this.#clockMs / MINUTE_MS) + 1) * MINUTE_MS;
    return undefined;
  }

  #step(atMs: number): void {
    this.#stepMs = atMs;
    const touched = this.#touched;
    const isMinute = atMs === this.#nextMinuteMs;
    this.#watcher?.beforeChange(isMinute ? this.#tokens.all() : this.#inUse);
    this.#inUse = [];
    for (const token of touched) this.#detector.catchUp(token);
    if (isMinute) this.#closeMinute(atMs);
    this.#touched = [];
    for (const token of touched) {
      if (!token.isTouched) continue;
      this.#measureIfOld(token.group, atMs);
      this.#judge(token, atMs);
    }
    for (const token of this.#inGrace) this.#touch(token);
    this.#inGrace = [];
    for (const [id, outcome] of this.#outcomes.step(atMs)) this.#flares.setOutcome(id, outcome);
    this.#flares.step(atMs);
    if (isMinute) this.#candles.closeMinute(atMs);
    this.#newest.step(atMs);
    if (atMs % this.#refreshMs === 0) {
      this.#flares.refresh(atMs, (token) => this.#explain(token, atMs));
      this.#newest.refresh((key) => this.#tokens.find("bsc", key));
    }
    const tokensOf = (group: MarketGroup) => this.#tokens.of(group);
    if (isMinute) this.#rankings.step({ atMs, tokensOf, markets: this.#markets });
    this.#plan();
  }

  #closeMinute(atMs: number): void {
    this.#nextMinuteMs = atMs + MINUTE_MS;
    for (const group of GROUPS) {
      const tokens = [...this.#tokens.of(group)].filter((token) => !this.#tokens.forgetIfSilent(token, atMs));
      if (tokens.length === 0) continue;
      for (const token of tokens) this.#detector.closeMinute(token, atMs);
      this.#detector.measureMinute(group, tokens, atMs);
      for (const token of tokens) if (isOnWatch(token, atMs)) this.#judge(token, atMs);
    }
  }

  /** Measures old medians again: a fast move of the market must not look like the token's own. */
  #measureIfOld(group: MarketGroup, atMs: number): void {
    const { measuredMs } = this.#markets[group];
    if (atMs - measuredMs >= MEASURE_MS)
      this.#detector.measureMarket(group, this.#tokens.sampleOf(group), atMs);
  }

  #judge(token: TokenState, atMs: number): void {
    token.isTouched = false;
    token.isStale = true;
    const judgment = this.#detector.judge(token, atMs);
    const { verdict } = judgment;
    if (token.followed !== null) this.#outcomes.note(token, atMs);
    if (awaitsLiquidity(token, atMs, this.#settings)) this.#inGrace.push(token);
    const view = (cause: FinishCause | null) => this.#view(token, judgment, cause, atMs);
    const flares = this.#flares.of(token);
    if (verdict === "none") flares.refreshWarned(token, atMs, () => view(null));
    else if (verdict === "surge") flares.surge(token, judgment.reading, atMs, () => view(null));
    else if (verdict === "start") {
      const why = view(null);
      const asked = flareStartOf(token, why, atMs);
      const flare = flares.start(token, atMs, { ...why, ...this.#odds?.odds(asked) });
      this.#outcomes.start(token, flare, asked, atMs);
      if (token.group === "bsc") this.#candles.start(token, atMs);
    } else flares.finish(token, atMs, view(verdict), this.#outcomes.finish(token, verdict, atMs));
  }

  #explain(token: TokenState, atMs: number): Explanation {
    return this.#view(token, this.#detector.measure(token, atMs), null, atMs);
  }

  #view(token: TokenState, measured: Measured, cause: FinishCause | null, atMs: number): Explanation {
    const { canary, flare } = token;
    // Frozen at the start, even if a listing or creation becomes known later.
    const age_s = flare ? (flare.explanation.age_s ?? null) : ageInSeconds(token, atMs);
    const [liquidity, locked] = [liquidityText(token), lockedOf(token, atMs)];
    const facts = { warnings: canary.warnings, liquidity, surge: flare?.surge, age_s, locked };
    return { ...viewExplanation(measured, facts, cause, atMs, this.#settings), ...oddsOf(flare) };
  }

  #touch(token: TokenState): void {
    if (token.isTouched) return;
    token.isTouched = true;
    this.#touched.push(token);
    this.#dueMs = Math.min(this.#dueMs, this.#nextSecondMs());
  }

  #nextSecondMs(): number {
    return (Math.floor(Math.max(this.#clockMs, this.#stepMs) / SECOND_MS) + 1) * SECOND_MS;
  }

  /** Finds the next second with work to do. */
  #plan(): void {
    let due = Math.min(this.#flares.deadlineMs, this.#newest.deadlineMs, this.#outcomes.deadlineMs);
    due = Math.max(Math.ceil(due / SECOND_MS) * SECOND_MS, this.#stepMs + SECOND_MS);
    if (this.#tokens.count > 0) due = Math.min(due, this.#nextMinuteMs);
    if (this.#touched.length > 0) due = Math.min(due, this.#nextSecondMs());
    if (this.#flares.runningCount > 0 || this.#newest.items.length > 0) {
      due = Math.min(due, (Math.floor(this.#stepMs / this.#refreshMs) + 1) * this.#refreshMs);
    }
    this.#dueMs = due;
  }
}
