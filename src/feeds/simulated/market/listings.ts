import { HOUR_MS, MINUTE_MS } from "../../../base/lib/time/time.ts";
import type { MarketEvent } from "../../../base/market/index.ts";
import { type Actor, TimedActor } from "./actors/actor.ts";
import { dollars } from "./decimal.ts";
import { labelOf } from "./episodes/label.ts";
import { rhythmAt } from "./episodes/market-factor.ts";
import { type ChainSetup, createNewcomer } from "./launch-token.ts";
import { firstProfile } from "./profiles.ts";
import { Random } from "./random.ts";

const LISTINGS_PER_HOUR = 24;
/** How long the label of a listing lasts. */
const NEW_FOR_MS = 15 * MINUTE_MS;

/** Lists new tokens on one chain: a Poisson process that follows the daily rhythm. */
export class Listings extends TimedActor {
  readonly #setup: ChainSetup;
  readonly #random: Random;
  readonly #spawn: (actor: Actor) => void;
  readonly #nextRank: () => number;
  #serial = 0;

  constructor(
    setup: ChainSetup,
    rank: number,
    nowMs: number,
    spawn: (actor: Actor) => void,
    nextRank: () => number,
  ) {
    super(rank, nowMs);
    this.#setup = setup;
    this.#spawn = spawn;
    this.#nextRank = nextRank;
    this.#random = new Random(`${setup.seed}/${setup.group}/listings`);
    this.schedule(this.#next(nowMs));
  }

  protected perform(at: number, out: MarketEvent[]): number {
    const resumesAtMs = this.#setup.chain.outages.downUntilMs;
    if (at < resumesAtMs) return resumesAtMs;
    const newcomer = createNewcomer(this.#setup, this.#serial, this.#nextRank, at);
    const { token, outcome, pool, liquidityUsd, companions } = newcomer;
    this.#serial += 1;
    out.push(firstProfile(token.subject, at));
    const { group, token: address } = token.subject;
    out.push({ kind: "listing", at, group, pool, token: address, liquidity: dollars(liquidityUsd) });
    token.introduce(at, out);
    const stage = { ...token.subject, nowMs: at };
    this.#setup.chain.onLabel(labelOf(stage, "listing", outcome, at + NEW_FOR_MS, liquidityUsd));
    this.#spawn(token);
    for (const companion of companions) this.#spawn(companion);
    return this.#next(at);
  }

  #next(now: number): number {
    return Math.ceil(now + this.#random.waiting(HOUR_MS / (LISTINGS_PER_HOUR * rhythmAt(now))));
  }
}
