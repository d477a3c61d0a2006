import { HOUR_MS, MINUTE_MS } from "../../../lib/time/time.ts";
import type { MarketEvent } from "../../../market/index.ts";
import type { Actor } from "./actors/actor.ts";
import { dollars } from "./decimal.ts";
import { rhythmAt } from "./episodes/market-factor.ts";
import { type Birthplace, bornNewcomer } from "./launch-token.ts";
import { firstProfile } from "./profiles.ts";
import { Random } from "./random.ts";

const LISTINGS_PER_HOUR = 24;
/** How long a listing counts as new. */
const NEW_FOR_MS = 15 * MINUTE_MS;

/** Lists new tokens on one chain: a Poisson process that follows the rhythm of the day. */
export class Listings implements Actor {
  readonly rank: number;
  readonly #place: Birthplace;
  readonly #random: Random;
  readonly #spawn: (actor: Actor) => void;
  readonly #nextRank: () => number;
  #nextAtMs: number;
  #serial = 0;

  constructor(
    place: Birthplace,
    rank: number,
    nowMs: number,
    spawn: (actor: Actor) => void,
    nextRank: () => number,
  ) {
    this.rank = rank;
    this.#place = place;
    this.#spawn = spawn;
    this.#nextRank = nextRank;
    this.#random = new Random(`${place.seed}/${place.group}/listings`);
    this.#nextAtMs = nowMs;
    this.#awaitNext(nowMs);
  }

  get nextAtMs(): number {
    return this.#nextAtMs;
  }

  act(out: MarketEvent[]): void {
    const at = this.#nextAtMs;
    const resumesAtMs = this.#place.chain.outages.downUntilMs;
    if (at < resumesAtMs) {
      this.#nextAtMs = resumesAtMs;
      return;
    }
    const { token, subject, destiny, pool, liquidityUsd, companions } = bornNewcomer(
      this.#place,
      this.#serial,
      this.#nextRank,
      at,
    );
    this.#serial += 1;
    const { group } = this.#place;
    out.push(firstProfile(subject, at));
    out.push({ kind: "listing", at, group, pool, token: subject.token, liquidity: dollars(liquidityUsd) });
    token.introduce(at, out);
    this.#place.chain.onLabel({
      kind: "listing",
      shape: destiny,
      group,
      token: subject.token,
      startAtMs: at,
      endAtMs: at + NEW_FOR_MS,
      size: liquidityUsd,
      peakAtMs: null,
      removedAtMs: null,
    });
    this.#spawn(token);
    for (const companion of companions) this.#spawn(companion);
    this.#awaitNext(at);
  }

  #awaitNext(now: number): void {
    this.#nextAtMs = Math.ceil(now + this.#random.waiting(HOUR_MS / (LISTINGS_PER_HOUR * rhythmAt(now))));
  }
}
