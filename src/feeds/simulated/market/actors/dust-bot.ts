import { HOUR_MS, MINUTE_MS } from "../../../../base/lib/time/time.ts";
import type { MarketEvent } from "../../../../base/market/index.ts";
import type { ChainToken } from "../chain-token.ts";
import { type LabelSink, labelOf } from "../episodes/label.ts";
import type { Random } from "../random.ts";
import { TokenActor } from "./token-actor.ts";
import type { Wallets } from "./wallets.ts";

const MEAN_HOURS_BETWEEN_BURSTS = 20;
const DUST_USD = [1e-6, 3e-3] as const;

interface DustBotTraits {
  /** Mean time between its trades, except in a burst. */
  readonly meanMinutes: number;
  /** Standard deviation of the logarithm of its prices from the pool's, caused by rounding. */
  readonly distortion: number;
}

/**
 * Trades fractions of a cent for as long as the token exists, so that it looks alive. Occasionally
 * trades from many wallets at rising prices for 8 to 20 minutes: labeled `dust`.
 */
export class DustBot extends TokenActor {
  readonly #traits: DustBotTraits;
  readonly #wallets: Wallets;
  readonly #onLabel: LabelSink;
  readonly #regulars: readonly number[];
  #burstAtMs: number;
  #burst = { untilMs: Number.NEGATIVE_INFINITY, perMinute: 0, fromMs: 0, rise: 0 };

  constructor(
    token: ChainToken,
    traits: DustBotTraits,
    wallets: Wallets,
    rank: number,
    nowMs: number,
    random: Random,
    onLabel: LabelSink,
  ) {
    super(token, rank, nowMs, random, MINUTE_MS);
    this.#traits = traits;
    this.#wallets = wallets;
    this.#onLabel = onLabel;
    this.#regulars = [0, 1, 2].map(() => wallets.draw(random));
    this.#burstAtMs = nowMs + random.waiting(MEAN_HOURS_BETWEEN_BURSTS * HOUR_MS);
    this.schedule(this.#next(nowMs));
  }

  protected perform(now: number, out: MarketEvent[]): number {
    if (now >= this.#burstAtMs) this.#startBurst(now);
    this.#trade(now, out);
    return this.#next(now);
  }

  #trade(now: number, out: MarketEvent[]): void {
    const random = this.random;
    const { untilMs, fromMs, rise } = this.#burst;
    const isBurst = now < untilMs;
    const trend = isBurst ? (rise * (now - fromMs)) / (untilMs - fromMs) : 0;
    const wallet = isBurst ? this.#wallets.draw(random) : random.pick(this.#regulars);
    const side = random.chance(isBurst ? 0.85 : 0.5) ? "buy" : "sell";
    const distortion = trend + this.#traits.distortion * random.normal() * (isBurst ? 0.2 : 1);
    const usd = random.logBetween(...DUST_USD);
    const trader = this.#wallets.addressOf(wallet);
    out.push(this.token.venue.dust(now, side, usd, this.token.quoteUsd, distortion, trader));
  }

  #startBurst(now: number): void {
    const random = this.random;
    const minutes = random.between(8, 20);
    const perMinute = random.between(6, 25);
    const untilMs = now + Math.round(minutes * MINUTE_MS);
    this.#burst = { untilMs, perMinute, fromMs: now, rise: Math.log1p(random.between(0.05, 0.3)) };
    this.#burstAtMs = untilMs + random.waiting(MEAN_HOURS_BETWEEN_BURSTS * HOUR_MS);
    const stage = { ...this.token.subject, nowMs: now };
    this.#onLabel(labelOf(stage, "dust", "burst", untilMs, minutes * perMinute, { peakAtMs: untilMs }));
  }

  #next(now: number): number {
    const isBurst = now < this.#burst.untilMs;
    const mean = isBurst ? MINUTE_MS / this.#burst.perMinute : this.#traits.meanMinutes * MINUTE_MS;
    return Math.ceil(now + this.random.waiting(mean));
  }
}
