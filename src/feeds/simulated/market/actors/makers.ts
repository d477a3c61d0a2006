import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../../base/lib/time/time.ts";
import type { MarketEvent } from "../../../../base/market/index.ts";
import type { ChainToken } from "../chain-token.ts";
import { type LabelKind, type LabelSink, labelOf } from "../episodes/label.ts";
import type { Random } from "../random.ts";
import { TokenActor } from "./token-actor.ts";

const NEVER = Number.POSITIVE_INFINITY;
/** Makers check the market at least this often. */
const CHECK_MS = 2 * MINUTE_MS;
/** Factors on their usual rates during a pump, which attracts them but stops migrations. */
const PUMP_FACTOR = { rebalance: 6, jit: 20, migration: 0 };
/** Mean time from one migration to the next. */
const HOURS_AFTER_MIGRATION = 55;

type Habit = keyof typeof PUMP_FACTOR;
type Action = (now: number, out: MarketEvent[]) => void;

/** Mean hours between the actions of one pool's makers; Infinity for never. */
export type MakerHabits = Readonly<Record<Habit, number>>;

/** Makers who move liquidity without harm: `rebalance`, `jit` or `migration`. */
export class Makers extends TokenActor {
  readonly #onLabel: LabelSink;
  readonly #meanHours: Record<Habit, number>;
  readonly #actions: Readonly<Record<Habit, Action>> = {
    rebalance: (now, out) => this.#rebalance(now, out),
    jit: (now, out) => this.#justInTime(now, out),
    migration: (now, out) => this.#migrate(now, out),
  };
  /** The next action; `undefined` if the next step is only a check. */
  #habit: Habit | undefined;
  #completion: { readonly atMs: number; readonly apply: Action } | undefined;

  constructor(
    token: ChainToken,
    habits: MakerHabits,
    rank: number,
    nowMs: number,
    random: Random,
    onLabel: LabelSink,
  ) {
    super(token, rank, nowMs, random, 5 * SECOND_MS);
    this.#onLabel = onLabel;
    this.#meanHours = { ...habits };
    this.schedule(this.#plan(nowMs));
  }

  protected perform(now: number, out: MarketEvent[]): number {
    const completion = this.#completion;
    this.#completion = undefined;
    if (completion) completion.apply(now, out);
    else if (this.#habit && !this.token.isTicking) this.#actions[this.#habit](now, out);
    return this.#next(now);
  }

  #next(now: number): number {
    return this.#completion?.atMs ?? this.#plan(now);
  }

  #plan(now: number): number {
    const habits = (["rebalance", "jit", "migration"] as const).map((habit) => {
      const factor = this.token.isPumped ? PUMP_FACTOR[habit] : 1;
      return [habit, factor / this.#meanHours[habit]] as const;
    });
    const perHour = habits.reduce((sum, [, rate]) => sum + rate, 0);
    const waiting = perHour > 0 ? this.random.waiting(HOUR_MS / perHour) : NEVER;
    this.#habit = waiting < CHECK_MS ? this.random.weighted(habits) : undefined;
    return Math.ceil(now + Math.min(waiting, CHECK_MS));
  }

  #rebalance(now: number, out: MarketEvent[]): void {
    const random = this.random;
    const share = random.between(0.4, 0.85);
    const back = random.between(0.96, 1.04) / (1 - share);
    const endAtMs = now + Math.round(random.logBetween(1, 20) * SECOND_MS);
    this.#label("rebalance", "range", now, endAtMs, share);
    this.token.moveLiquidity(now, 1 - share, out);
    this.#later(endAtMs, (at, later) => this.token.moveLiquidity(at, back, later));
  }

  #justInTime(now: number, out: MarketEvent[]): void {
    const random = this.random;
    const factor = random.between(2, 8);
    const isAtomic = random.chance(0.7);
    const endAtMs = now + (isAtomic ? 1 : Math.round(random.between(0.75, 3) * SECOND_MS));
    this.#label("jit", isAtomic ? "atomic" : "blocks", now, endAtMs, 1 - 1 / factor);
    this.token.moveLiquidity(now, factor, out);
    this.token.tradeLarge(now, random.between(0.004, 0.015) / factor, random, out);
    const withdraw = (at: number, later: MarketEvent[]) => this.token.moveLiquidity(at, 1 / factor, later);
    if (isAtomic) withdraw(now, out);
    else this.#later(endAtMs, withdraw);
  }

  #migrate(now: number, out: MarketEvent[]): void {
    const random = this.random;
    const share = random.between(0.9, 0.995);
    const isAtomic = random.chance(0.5);
    const endAtMs = now + (isAtomic ? 1 : Math.round(random.logBetween(2, 60) * SECOND_MS));
    this.#label("migration", isAtomic ? "atomic" : "blocks", now, endAtMs, share);
    this.token.moveLiquidity(now, 1 - share, out);
    this.#meanHours.migration = HOURS_AFTER_MIGRATION;
    const pool = random.address();
    const arrive = (at: number, later: MarketEvent[]) =>
      this.token.moveTo(at, pool, share / (1 - share), later);
    if (isAtomic) arrive(now, out);
    else this.#later(endAtMs, arrive);
  }

  #later(atMs: number, apply: Action): void {
    this.#completion = { atMs, apply };
  }

  #label(kind: LabelKind, shape: string, startAtMs: number, endAtMs: number, size: number): void {
    this.#onLabel(labelOf({ ...this.token.subject, nowMs: startAtMs }, kind, shape, endAtMs, size));
  }
}
