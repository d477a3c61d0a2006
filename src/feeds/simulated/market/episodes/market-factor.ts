import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../../base/lib/time/time.ts";
import { TimedActor } from "../actors/actor.ts";
import { Random } from "../random.ts";
import { type Label, type LabelSink, labelOf } from "./label.ts";

const STEP_MS = 5_000;
/** Standard deviation of the level's change in a year, before its reversion. */
const YEARLY_VOLATILITY = 0.6;
const STEP_VOLATILITY = YEARLY_VOLATILITY * Math.sqrt(STEP_MS / (365 * DAY_MS));
/** The level reverts to its start with this time constant, so that it stays in range for months. */
const RECALL_MS = 7 * DAY_MS;
const MEAN_BETWEEN_WIDE_MS = 3 * HOUR_MS;
/** Mean time from the end of a slump's recovery to the next slump. */
const MEAN_BETWEEN_SLUMPS_MS = 8 * HOUR_MS;
/** A slump's recovery takes this many times as long as its fall. */
const RECOVERY = 3;
const EVERYWHERE = { group: null, token: null };

/** Returns the activity at a time of day, 1 on average: lowest about 01:00 UTC, highest 15:00. */
export function rhythmAt(atMs: number): number {
  const day = ((atMs % DAY_MS) / DAY_MS) * 2 * Math.PI;
  return 1 - 0.42 * Math.cos(day - Math.PI / 4) + 0.12 * Math.cos(2 * day - Math.PI / 2);
}

/**
 * The market's log level: a slow random walk. Occasionally it moves by 4 to 12 % within 5 to 15
 * minutes, labeled `wide`, or falls by 5 to 15 % within 45 to 150 minutes and recovers, labeled
 * `slump`.
 */
export class MarketFactor extends TimedActor {
  readonly #random: Random;
  readonly #onLabel: LabelSink;
  #level = 0;
  /** The level in a minute, and the levels from now until then. */
  #laterLevel = 0;
  readonly #levels: number[] = [];
  /** Time of the next step to draw. */
  #drawAtMs: number;
  /** Labels of drawn steps that are not due yet. */
  readonly #labels: Label[] = [];
  #wideAtMs: number;
  #wideUntilMs = Number.NEGATIVE_INFINITY;
  #widePerStep = 0;
  #slumpAtMs: number;
  #slumpUntilMs = Number.NEGATIVE_INFINITY;
  #recoveryUntilMs = Number.NEGATIVE_INFINITY;
  #slumpPerStep = 0;

  constructor(seed: string, rank: number, beginAtMs: number, onLabel: LabelSink) {
    super(rank, beginAtMs);
    this.#random = new Random(`${seed}/climate`);
    this.#onLabel = onLabel;
    this.#drawAtMs = beginAtMs;
    this.#wideAtMs = beginAtMs + this.#random.waiting(MEAN_BETWEEN_WIDE_MS);
    this.#slumpAtMs = beginAtMs + this.#random.waiting(MEAN_BETWEEN_SLUMPS_MS);
  }

  /** The market's level as a natural logarithm: 0.1 is about 10 % above the start. */
  get level(): number {
    return this.#level;
  }

  /** The level in a minute: an exchange's minute is decided when it begins. */
  get levelInAMinute(): number {
    return this.#laterLevel;
  }

  protected perform(now: number): number {
    for (; this.#drawAtMs <= now + MINUTE_MS; this.#drawAtMs += STEP_MS) {
      this.#draw(this.#drawAtMs);
      this.#levels.push(this.#laterLevel);
    }
    this.#level = this.#levels.shift() ?? this.#level;
    for (let label = this.#labels[0]; label && label.startAtMs <= now; label = this.#labels[0]) {
      this.#onLabel(label);
      this.#labels.shift();
    }
    return now + STEP_MS;
  }

  /** Draws the step at `at`, which is up to a minute ahead. */
  #draw(at: number): void {
    if (at >= this.#wideAtMs) this.#startWide(at);
    let level = this.#laterLevel;
    level += STEP_VOLATILITY * this.#random.normal() - (level * STEP_MS) / RECALL_MS;
    if (at < this.#wideUntilMs) level += this.#widePerStep;
    if (at >= this.#slumpAtMs) this.#startSlump(at);
    if (at < this.#slumpUntilMs) level += this.#slumpPerStep;
    else if (at < this.#recoveryUntilMs) level -= this.#slumpPerStep / RECOVERY;
    this.#laterLevel = level;
  }

  #startWide(now: number): void {
    const random = this.#random;
    const up = random.chance(0.5);
    const size = random.between(0.04, 0.12) * (up ? 1 : -1);
    const steps = Math.round(random.between(5, 15) * (MINUTE_MS / STEP_MS));
    this.#wideUntilMs = now + steps * STEP_MS;
    this.#widePerStep = Math.log1p(size) / steps;
    this.#wideAtMs = this.#wideUntilMs + random.waiting(MEAN_BETWEEN_WIDE_MS);
    const peakAtMs = up ? this.#wideUntilMs : null;
    const stage = { ...EVERYWHERE, nowMs: now };
    this.#labels.push(labelOf(stage, "wide", up ? "up" : "down", this.#wideUntilMs, size, { peakAtMs }));
  }

  #startSlump(now: number): void {
    const random = this.#random;
    const size = -random.between(0.05, 0.15);
    const steps = Math.round(random.between(45, 150) * (MINUTE_MS / STEP_MS));
    this.#slumpUntilMs = now + steps * STEP_MS;
    this.#recoveryUntilMs = this.#slumpUntilMs + RECOVERY * steps * STEP_MS;
    this.#slumpPerStep = Math.log1p(size) / steps;
    this.#slumpAtMs = this.#recoveryUntilMs + random.waiting(MEAN_BETWEEN_SLUMPS_MS);
    this.#labels.push(labelOf({ ...EVERYWHERE, nowMs: now }, "slump", "fall", this.#slumpUntilMs, size));
  }
}
