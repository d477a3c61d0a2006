import type { MarketEvent } from "../../../../market/index.ts";

/** A part of the simulated market with a life of its own: the market always lets the one act whose moment is next. */
export interface Actor {
  /** Decides between actors of the same moment: the lower acts first. Unique. */
  readonly rank: number;
  /** Event time of its next act, in whole milliseconds; Infinity when it is done for good. Only its own `act` changes it, and never back. */
  readonly nextAtMs: number;
  /** Does what is due at `nextAtMs` and appends what the world sees of it, all with that moment as `at`. */
  act(out: MarketEvent[]): void;
}

/**
 * Actors by their next moment: a binary heap, O(log n) per act. An actor that is done for good is let go. Moments and ranks lie beside
 * the actors in arrays of numbers, so that a comparison asks no actor.
 */
export class ActorQueue {
  readonly #actors: Actor[] = [];
  readonly #moments: number[] = [];
  readonly #ranks: number[] = [];

  get size(): number {
    return this.#actors.length;
  }

  /** Who acts next; `undefined` when nobody ever will. */
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

  /** To be called after `first` has acted: puts it where its new moment belongs, or lets it go. */
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

  /** Puts an actor in from the top, whose place is free. */
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

  /** Whether the actor at `index` acts after the given moment and rank. */
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
