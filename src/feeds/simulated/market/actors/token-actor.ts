import type { MarketEvent } from "../../../../base/market/index.ts";
import type { ChainToken } from "../chain-token.ts";
import type { Random } from "../random.ts";
import type { Actor } from "./actor.ts";

/** An actor on one token. It finishes with the token and pauses while the token's chain is down. */
export abstract class TokenActor implements Actor {
  readonly rank: number;
  protected readonly token: ChainToken;
  protected readonly random: Random;
  /** After an outage the actors return at random times within this many milliseconds. */
  readonly #returnMs: number;
  #nextAtMs: number;

  /** First acts at `nowMs`, unless the subclass calls {@link schedule}. */
  constructor(token: ChainToken, rank: number, nowMs: number, random: Random, returnMs: number) {
    this.rank = rank;
    this.token = token;
    this.random = random;
    this.#returnMs = returnMs;
    this.#nextAtMs = nowMs;
  }

  get nextAtMs(): number {
    return this.#nextAtMs;
  }

  act(out: MarketEvent[]): void {
    const now = this.#nextAtMs;
    const { resumesAtMs } = this.token;
    if (this.token.isOver) this.#nextAtMs = Number.POSITIVE_INFINITY;
    else if (now < resumesAtMs) this.#nextAtMs = resumesAtMs + this.random.below(this.#returnMs);
    else this.#nextAtMs = this.perform(now, out);
  }

  protected schedule(atMs: number): void {
    this.#nextAtMs = atMs;
  }

  /** Performs the action due at `now` and returns the next time. */
  protected abstract perform(now: number, out: MarketEvent[]): number;
}
