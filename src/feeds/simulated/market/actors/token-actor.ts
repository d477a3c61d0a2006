import type { MarketEvent } from "../../../../base/market/index.ts";
import type { ChainToken } from "../chain-token.ts";
import type { Random } from "../random.ts";
import { TimedActor } from "./actor.ts";

/** An actor on one token. It finishes with the token and pauses while the token's chain is down. */
export abstract class TokenActor extends TimedActor {
  protected readonly token: ChainToken;
  protected readonly random: Random;
  /** After an outage the actors return at random times within this many milliseconds. */
  readonly #returnMs: number;

  /** First acts at `nowMs`, unless the subclass calls {@link schedule}. */
  constructor(token: ChainToken, rank: number, nowMs: number, random: Random, returnMs: number) {
    super(rank, nowMs);
    this.token = token;
    this.random = random;
    this.#returnMs = returnMs;
  }

  override act(out: MarketEvent[]): void {
    const { resumesAtMs } = this.token;
    if (this.token.isOver) this.schedule(Number.POSITIVE_INFINITY);
    else if (this.nextAtMs < resumesAtMs) this.schedule(resumesAtMs + this.random.below(this.#returnMs));
    else super.act(out);
  }
}
