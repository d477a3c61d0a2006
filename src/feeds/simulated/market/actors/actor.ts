import type { MarketEvent } from "../../../../base/market/index.ts";

/** An independent part of the market. The market always runs the actor with the earliest time. */
export interface Actor {
  /** Unique. Of actors with the same time, the one with the lower rank acts first. */
  readonly rank: number;
  /**
   * Event time of its next action; Infinity when finished. Only `act` changes it, never backward.
   */
  readonly nextAtMs: number;
  /**
   * Performs the action due at `nextAtMs` and appends its visible events. All are at that time,
   * except facts about a token that an outage delayed: they have their earlier time.
   */
  act(out: MarketEvent[]): void;
}

/** An actor that knows its next time. */
export abstract class TimedActor implements Actor {
  readonly rank: number;
  #nextAtMs: number;

  /** First acts at `nextAtMs`, unless the subclass calls {@link schedule}. */
  constructor(rank: number, nextAtMs: number) {
    this.rank = rank;
    this.#nextAtMs = nextAtMs;
  }

  get nextAtMs(): number {
    return this.#nextAtMs;
  }

  act(out: MarketEvent[]): void {
    this.#nextAtMs = this.perform(this.#nextAtMs, out);
  }

  protected schedule(atMs: number): void {
    this.#nextAtMs = atMs;
  }

  /** Performs the action due at `now` and returns the next time. */
  protected abstract perform(now: number, out: MarketEvent[]): number;
}

/** A binary heap of actors by time and rank. Copies both, so that comparisons call no actor. */
export class ActorQueue {
  readonly #actors: Actor[] = [];
  readonly #moments: number[] = [];
  readonly #ranks: number[] = [];

  /** The next actor; `undefined` if all are finished. */
  get first(): Actor | undefined {
    return this.#actors[0];
  }

  add(actor: Actor): void {
    const { nextAtMs, rank } = actor;
    if (nextAtMs === Number.POSITIVE_INFINITY) return;
    let index = this.#actors.length;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!this.#isAfter(parent, nextAtMs, rank)) break;
      this.#move(parent, index);
      index = parent;
    }
    this.#put(index, actor, nextAtMs, rank);
  }

  /** Moves `first`, which has acted, to its new position or removes it. */
  firstHasActed(): void {
    const acted = this.#actors[0];
    if (acted === undefined) return;
    if (acted.nextAtMs !== Number.POSITIVE_INFINITY) {
      this.#sink(acted);
      return;
    }
    const last = this.#actors.pop();
    this.#moments.length = this.#actors.length;
    this.#ranks.length = this.#actors.length;
    if (last !== undefined && last !== acted) this.#sink(last);
  }

  /** Inserts an actor at the top, whose slot is free. */
  #sink(actor: Actor): void {
    const { nextAtMs, rank } = actor;
    const size = this.#actors.length;
    let index = 0;
    for (let child = 1; child < size; child = 2 * index + 1) {
      const right = child + 1;
      if (right < size && this.#isAfter(child, this.#moments[right] ?? 0, this.#ranks[right] ?? 0))
        child = right;
      if (this.#isAfter(child, nextAtMs, rank)) break;
      this.#move(child, index);
      index = child;
    }
    this.#put(index, actor, nextAtMs, rank);
  }

  /** Returns whether the actor at `index` acts after the given time and rank. */
  #isAfter(index: number, moment: number, rank: number): boolean {
    const own = this.#moments[index] ?? 0;
    return own > moment || (own === moment && (this.#ranks[index] ?? 0) > rank);
  }

  #move(from: number, to: number): void {
    const actor = this.#actors[from];
    if (actor) this.#put(to, actor, this.#moments[from] ?? 0, this.#ranks[from] ?? 0);
  }

  #put(index: number, actor: Actor, moment: number, rank: number): void {
    this.#actors[index] = actor;
    this.#moments[index] = moment;
    this.#ranks[index] = rank;
  }
}
