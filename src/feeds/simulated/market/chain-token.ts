import { MINUTE_MS, SECOND_MS } from "../../../base/lib/time/time.ts";
import type { MarketEvent, Profile } from "../../../base/market/index.ts";
import { TimedActor } from "./actors/actor.ts";
import { Arrivals } from "./actors/arrivals.ts";
import { ARBITRAGE_GAP, type Moment, Traders } from "./actors/traders.ts";
import type { Wallets } from "./actors/wallets.ts";
import type { Episode } from "./episodes/episode-schedule.ts";
import type { LabelSink } from "./episodes/label.ts";
import { type MarketFactor, rhythmAt } from "./episodes/market-factor.ts";
import { type Phase, ScriptRun } from "./episodes/script.ts";
import { FairValue, type ValueTraits } from "./fair-value.ts";
import type { LpShares } from "./lp-locks.ts";
import type { Outages } from "./outages.ts";
import { forumPostOf, type Subject } from "./profiles.ts";
import type { Random } from "./random.ts";
import { Pool } from "./venues/pool.ts";
import { Venue } from "./venues/venue.ts";

const NEVER = Number.POSITIVE_INFINITY;
/** A token resumes within this time after an outage of its chain. */
const RETURN_MS = 20 * SECOND_MS;
/** Makers change a pool's liquidity about once in ten hours, by at most a tenth. */
const MAKERS_PER_MINUTE = 1 / 600;

/** The state that the tokens of one chain share. */
export interface Chain {
  readonly marketFactor: MarketFactor;
  readonly wallets: Wallets;
  /**
   * Price of the wrapped native token at the market's start, in dollars; it moves with the market.
   */
  readonly nativeUsd: number;
  readonly outages: Outages;
  readonly onLabel: LabelSink;
}

export interface TokenTraits {
  readonly rank: number;
  readonly subject: Subject;
  readonly pool: string;
  /** The token that the pool pairs it with. */
  readonly quotedIn: "native" | "stable";
  readonly value: ValueTraits;
  readonly liquidityUsd: number;
  readonly feeShare: number;
  /** Mean trades per millisecond at a time, without the daily rhythm. */
  readonly tradesPerMs: (atMs: number) => number;
  /** Mean number of trades that one trade triggers. */
  readonly branching: number;
  /** Probability, in each minute with a price gap, that it is traded away in the next minute. */
  readonly arbitrageChance: number;
  readonly canSell: boolean;
  /** When trading ends; Infinity for never. */
  readonly endsAtMs: number;
  /** Future facts, sorted by time. */
  readonly profiles: readonly Profile[];
  /** Returns who holds the LP tokens from a script's start until it removes the liquidity. */
  readonly locksBefore?: (nowMs: number, removedAtMs: number) => readonly LpShares[];
  /** Returns the next episode; `null` for none. Called at the start and after each script. */
  readonly nextEpisode: (nowMs: number, liquidityUsd: number) => Episode | null;
}

/** Simulates a token on a chain: its main pool, its traders, its scripts and its facts. */
export class ChainToken extends TimedActor {
  readonly venue: Venue;
  readonly subject: Subject;
  readonly #traits: TokenTraits;
  readonly #chain: Chain;
  readonly #random: Random;
  readonly #value: FairValue;
  readonly #traders: Traders;
  readonly #arrivals: Arrivals;
  #facts: (Profile | LpShares)[];
  #episode: Episode | null;
  #run: ScriptRun | null = null;
  #isAbandoned = false;
  #minuteAtMs: number;
  #commonAtMs = NEVER;
  #crowdAtMs = NEVER;
  #arbitrageAtMs = NEVER;

  constructor(traits: TokenTraits, chain: Chain, nowMs: number, random: Random) {
    super(traits.rank, nowMs);
    this.subject = traits.subject;
    this.#traits = traits;
    this.#chain = chain;
    this.#random = random;
    this.#value = new FairValue(traits.value, chain.marketFactor);
    const quote = traits.liquidityUsd / 2 / this.quoteUsd;
    const tokens = traits.liquidityUsd / 2 / traits.value.startUsd;
    const { group, token } = traits.subject;
    this.venue = new Venue({ group, pool: traits.pool, token }, new Pool(tokens, quote, traits.feeShare));
    this.#traders = new Traders(this.venue, chain.wallets, random, traits.canSell);
    this.#arrivals = new Arrivals(nowMs, traits.branching, 45_000);
    this.#facts = [...traits.profiles];
    this.#episode = traits.nextEpisode(nowMs, traits.liquidityUsd);
    this.#minuteAtMs = nowMs + random.below(MINUTE_MS);
    this.#awaitCommon(nowMs);
    this.schedule(this.#earliest());
  }

  get isOver(): boolean {
    return this.#isAbandoned || this.nextAtMs === NEVER;
  }

  /** Whether a script's crowd is trading it, during a pump, a rug or a honeypot. */
  get isPumped(): boolean {
    return this.#run?.phase?.style === "crowd";
  }

  /** Whether one wallet has raised its price and has just sold or is about to. */
  get isTicking(): boolean {
    return this.#run?.phase?.style === "tick";
  }

  /** When its chain's latest outage ends or ended; -Infinity before the first. */
  get resumesAtMs(): number {
    return this.#chain.outages.downUntilMs;
  }

  /** Mean trades per minute at a time, apart from scripts and the daily rhythm. */
  usualPerMinute(at: number): number {
    return this.#traits.tradesPerMs(at) * MINUTE_MS;
  }

  /** Multiplies the pool's liquidity by `factor` and reports the change. */
  moveLiquidity(at: number, factor: number, out: MarketEvent[]): void {
    this.venue.remind(at, this.quoteUsd, out);
    this.venue.scale(factor);
    this.venue.report(at, this.quoteUsd, factor > 1 ? "add" : "remove", out);
  }

  /** Moves to another pool, with `factor` times the remaining liquidity of the old one. */
  moveTo(at: number, pool: string, factor: number, out: MarketEvent[]): void {
    this.venue.scale(factor);
    this.venue.moveTo(at, pool, this.quoteUsd, out);
  }

  /** Buys for `share` of the pool's quote, or sells `share` of its tokens, in one trade. */
  tradeLarge(at: number, share: number, random: Random, out: MarketEvent[]): void {
    this.#traders.large(this.momentIn(this.venue.pool, at), share, random, out);
  }

  /** Reports who holds the LP tokens when their time comes. */
  expect(locks: readonly LpShares[]): void {
    this.#facts = [...this.#facts, ...locks].sort((one, other) => one.at - other.at);
    this.schedule(this.#earliest());
  }

  /** Reports the pool's liquidity for the first time. */
  introduce(at: number, out: MarketEvent[]): void {
    this.venue.report(at, this.quoteUsd, "sync", out);
  }

  protected perform(now: number, out: MarketEvent[]): number {
    if (now >= this.#traits.endsAtMs) return NEVER;
    if (now < this.resumesAtMs) return this.resumesAtMs + this.#random.below(RETURN_MS);
    while (this.#facts[0] && this.#facts[0].at <= now) this.#announce(now, out);
    if (this.#episode && now >= this.#episode.atMs && this.#run === null)
      this.#startScript(this.#episode, now, out);
    if (this.#run?.phase && now >= this.#run.phase.untilMs) this.#nextPhase(this.#run, now, out);
    if (now >= this.#minuteAtMs) this.#passMinute(now, out);
    this.#tradeDue(now, out);
    return this.#isAbandoned && this.#run === null ? NEVER : Math.max(now, this.#earliest());
  }

  #announce(now: number, out: MarketEvent[]): void {
    for (const fact of this.#facts.splice(0, 1)) {
      if ("kind" in fact) out.push(fact);
      else this.venue.lock({ ...fact, at: now }, out);
    }
  }

  #earliest(): number {
    const script = this.#run ? (this.#run.phase?.untilMs ?? NEVER) : (this.#episode?.atMs ?? NEVER);
    const trade = Math.min(this.#commonAtMs, this.#crowdAtMs, this.#arbitrageAtMs);
    const fact = this.#facts[0]?.at ?? NEVER;
    return Math.min(trade, script, fact, this.#minuteAtMs, this.#traits.endsAtMs);
  }

  #tradeDue(now: number, out: MarketEvent[]): void {
    let traded = true;
    if (now >= this.#arbitrageAtMs) {
      this.#arbitrageAtMs = NEVER;
      this.#traders.arbitrage(this.#moment(now), out);
    } else if (now >= this.#crowdAtMs) {
      const phase = this.#run?.phase;
      if (phase?.style === "wash") this.#traders.wash(this.#moment(now), out);
      else if (phase) this.#traders.follow(this.#moment(now), phase, out);
      this.#awaitCrowd(now, phase);
    } else if (now >= this.#commonAtMs) {
      this.#traders.common(this.#moment(now), out);
      this.#arrivals.arrived(now);
      this.#awaitCommon(now);
    } else {
      traded = false;
    }
    if (traded) this.venue.report(now, this.quoteUsd, "trade", out);
  }

  #passMinute(now: number, out: MarketEvent[]): void {
    this.#minuteAtMs = now + MINUTE_MS;
    this.#value.step(this.#random);
    this.#awaitCommon(now);
    if (this.#isAbandoned) return;
    const { gap } = this.#moment(now);
    const tempting = Math.abs(gap) > Math.max(ARBITRAGE_GAP, 2 * this.#traits.feeShare);
    if (tempting && this.#run?.phase?.style !== "tick" && this.#random.chance(this.#traits.arbitrageChance)) {
      this.#arbitrageAtMs = now + 1 + this.#random.below(MINUTE_MS);
    }
    if (this.#run === null && this.#random.chance(MAKERS_PER_MINUTE) && !this.venue.isLocked)
      this.#makersMove(now, out);
    this.venue.report(now, this.quoteUsd, "sync", out);
  }

  /**
   * Simulates makers who come and go: changes the liquidity at random, but toward its initial
   * value.
   */
  #makersMove(now: number, out: MarketEvent[]): void {
    const wanted = this.#traits.liquidityUsd / this.venue.liquidityUsd(this.quoteUsd);
    const factor = Math.max(0.9, Math.min(1.1, Math.sqrt(wanted) * this.#random.logNormal(1, 0.05)));
    this.moveLiquidity(now, factor, out);
  }

  #startScript(episode: Episode, now: number, out: MarketEvent[]): void {
    const usualPerMs = this.#traits.tradesPerMs(now) * rhythmAt(now);
    const { group, token } = this.#traits.subject;
    const script = episode.plan({ group, token, nowMs: now, usualPerMs }, this.#random);
    this.#episode = null;
    // Start the script at the current price, so that the trades match the label.
    this.#value.settle(-this.#moment(now).gap);
    this.#run = new ScriptRun(script);
    this.#chain.onLabel(script.label);
    this.#traders.assemble(script.insiders);
    if (script.label.kind === "pump") this.#stirForum(now);
    const { removedAtMs } = script.label;
    if (removedAtMs !== null) this.expect(this.#traits.locksBefore?.(now, removedAtMs) ?? []);
    this.#enter(this.#run.phase, now, out);
  }

  #nextPhase(run: ScriptRun, now: number, out: MarketEvent[]): void {
    if (run.phase?.style !== "crowd") this.#traders.disband(this.#moment(now), out);
    const phase = run.next();
    if (phase !== undefined) {
      this.#enter(phase, now, out);
      return;
    }
    this.#crowdAtMs = NEVER;
    this.#value.settle(run.offsetAt(now));
    this.#run = null;
    this.#episode = this.#traits.nextEpisode(now, this.venue.liquidityUsd(this.quoteUsd));
  }

  #enter(phase: Phase | undefined, now: number, out: MarketEvent[]): void {
    if (phase === undefined) return;
    if (phase.removes > 0) {
      this.venue.scale(1 - phase.removes);
      this.venue.report(now, this.quoteUsd, "remove", out);
      this.#isAbandoned = true;
      this.#arbitrageAtMs = NEVER;
      this.#awaitCommon(now);
    }
    if (phase.style === "tick" && phase.offset > 0) this.#traders.lift(this.#moment(now), phase.offset, out);
    this.#awaitCrowd(now, phase);
  }

  /**
   * Schedules a forum post 1 to 11 minutes later in two of five cases, because a pump often causes
   * one.
   */
  #stirForum(now: number): void {
    if (this.#traits.subject.group === "exchange" || !this.#random.chance(0.4)) return;
    const at = now + MINUTE_MS + this.#random.below(10 * MINUTE_MS);
    const forumPost = forumPostOf(this.#traits.subject, at - 30_000, this.#random);
    const { group, token } = this.#traits.subject;
    this.#facts.push({ kind: "profile", at, group, token, forumPost });
    this.#facts.sort((one, other) => one.at - other.at);
  }

  #awaitCommon(now: number): void {
    const perMs = this.#traits.tradesPerMs(now) * rhythmAt(now) * (1 - this.#traits.branching);
    const waiting = this.#isAbandoned ? NEVER : this.#arrivals.waitingMs(now, perMs, this.#random);
    this.#commonAtMs = Math.ceil(now + waiting);
  }

  #awaitCrowd(now: number, phase: Phase | undefined): void {
    const perMs = phase?.tradesPerMs ?? 0;
    this.#crowdAtMs = perMs > 0 ? Math.ceil(now + this.#random.waiting(1 / perMs)) : NEVER;
  }

  /** Price of the pool's quote token now, in dollars. */
  get quoteUsd(): number {
    return this.#traits.quotedIn === "native"
      ? this.#chain.nativeUsd * Math.exp(this.#chain.marketFactor.level)
      : 1;
  }

  /** Returns the inputs of a swap in one of its pools. */
  momentIn(pool: Pool, at: number): Moment {
    const { quoteUsd } = this;
    const aim = this.#value.log + (this.#run?.offsetAt(at) ?? 0);
    return { at, quoteUsd, gap: aim - Math.log(pool.price * quoteUsd) };
  }

  #moment(at: number): Moment {
    return this.momentIn(this.venue.pool, at);
  }
}
