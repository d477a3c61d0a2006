import { HOUR_MS, MINUTE_MS } from "../../../base/lib/time/time.ts";
import type { MarketGroup } from "../../../base/market/index.ts";
import { TimedActor } from "./actors/actor.ts";
import { type LabelSink, labelOf } from "./episodes/label.ts";
import { Random } from "./random.ts";

const MEAN_HOURS_BETWEEN = 20;
const NEVER_YET = Number.NEGATIVE_INFINITY;

/**
 * Outages of a chain or venue: on average 20 hours apart, each 8 to 30 minutes without any trade.
 */
export class Outages extends TimedActor {
  readonly #random: Random;
  readonly #onLabel: LabelSink;
  readonly #about: { readonly group: MarketGroup; readonly shape: string };
  #downUntilMs = NEVER_YET;

  constructor(
    seed: string,
    about: { readonly group: MarketGroup; readonly shape: string },
    rank: number,
    nowMs: number,
    onLabel: LabelSink,
  ) {
    super(rank, nowMs);
    this.#about = about;
    this.#onLabel = onLabel;
    this.#random = new Random(`${seed}/${about.group}/${about.shape}/outages`);
    this.schedule(this.#after(nowMs + HOUR_MS));
  }

  /** When the latest outage ends or ended; -Infinity before the first. */
  get downUntilMs(): number {
    return this.#downUntilMs;
  }

  /** Returns whether any part of the span up to `untilMs` is in an outage, also in the next one. */
  overlaps(fromMs: number, untilMs: number): boolean {
    return fromMs < this.#downUntilMs || this.nextAtMs <= untilMs;
  }

  protected perform(now: number): number {
    const minutes = this.#random.logBetween(8, 30);
    this.#downUntilMs = now + Math.round(minutes * MINUTE_MS);
    const next = this.#after(this.#downUntilMs);
    const { group, shape } = this.#about;
    this.#onLabel(labelOf({ group, token: null, nowMs: now }, "outage", shape, this.#downUntilMs, minutes));
    return next;
  }

  #after(nowMs: number): number {
    return Math.ceil(nowMs + this.#random.waiting(MEAN_HOURS_BETWEEN * HOUR_MS));
  }
}
