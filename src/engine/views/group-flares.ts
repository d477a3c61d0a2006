import { jsonEqual } from "../../base/lib/json-equal.ts";
import { reuseIfEqual, reuseListIfSame, reuseRecordIfSame } from "../../base/lib/reuse.ts";
import { roundTo } from "../../base/lib/statistics.ts";
import { MINUTE_MS } from "../../base/lib/time/time.ts";
import {
  type AnyFlare,
  type Explanation,
  OUTCOME_MINUTES,
  type Outcome,
  tokenOf,
} from "../../base/model/index.ts";
import { isUnfit } from "../detect/canary.ts";
import { awaitsLiquidity } from "../detect/pools.ts";
import type { Reading } from "../detect/score.ts";
import type { DetectorSettings } from "../settings.ts";
import { flareId } from "../state/ids.ts";
import { judgeRelevance, type RunningFlare, type TokenState } from "../state/token-state.ts";
import { toTimestamp, viewFlare } from "./flare-view.ts";

/** Flares that wait for their final outcome are listed up to this multiple of the usual maximum. */
const PENDING_LISTS = 10;
const DECIMALS = 4;

export interface FinishedFlare {
  readonly finishedMs: number;
  readonly flare: AnyFlare;
  readonly explanation: Explanation;
  /** `null` if the engine did not see the start. */
  outcome: Outcome | null;
}

/** One group's lists. All flares have its schema: see `viewFlare`. */
interface Lists {
  readonly free: AnyFlare[];
  readonly pro: AnyFlare[];
  readonly finished_trending: AnyFlare[];
}

export interface ServedFlares {
  readonly flares: Lists;
  readonly explanations: Record<string, Explanation>;
  readonly outcomes: Record<string, Outcome>;
}

const NOTHING: ServedFlares = {
  flares: { free: [], pro: [], finished_trending: [] },
  explanations: {},
  outcomes: {},
};

/** Maintains the running flares of one group, in `pro` and `free`, and the finished ones. */
export class GroupFlares {
  readonly #settings: DetectorSettings;
  readonly #running = new Set<TokenState>();
  /** In the order of their finish, oldest first. */
  readonly #finished: FinishedFlare[];
  #served: ServedFlares = NOTHING;
  #isDirty = true;
  #hasNewOutcome = false;
  /** A finished flare was added or dropped since the last {@link serve}. */
  #hasNewFinished = true;
  /**
   * When to look next for finished flares to drop: −Infinity after a finish, Infinity without any.
   */
  #reviewMs = Number.NEGATIVE_INFINITY;

  /** @param finished From a checkpoint, oldest finish first. */
  constructor(settings: DetectorSettings, finished: FinishedFlare[] = []) {
    this.#settings = settings;
    this.#finished = finished;
  }

  get isDirty(): boolean {
    return this.#isDirty;
  }

  get runningCount(): number {
    return this.#running.size;
  }

  /** The finished flares that are still listed, oldest finish first. */
  get finished(): readonly FinishedFlare[] {
    return this.#finished;
  }

  /**
   * When a running flare is next old enough for `free`, or the oldest finished one expires;
   * Infinity if never. In the past while missing liquidity delays a flare.
   */
  get deadlineMs(): number {
    const { freeAgeMs, finishedMs } = this.#settings;
    let next = (this.#finished[0]?.finishedMs ?? Number.POSITIVE_INFINITY) + finishedMs;
    for (const token of this.#running) {
      if (token.flare && !token.flare.isFree && !isUnfit(token.canary)) {
        next = Math.min(next, token.flare.startedMs + freeAgeMs);
      }
    }
    return next;
  }

  resume(token: TokenState): void {
    this.#running.add(token);
  }

  start(token: TokenState, atMs: number, explanation: Explanation): RunningFlare {
    const id = flareId(token.group, token.key, atMs);
    const flare = {
      id,
      startedMs: atMs,
      isFree: false,
      published: viewFlare(token, id, atMs, null, atMs),
      explanation,
    };
    token.flare = flare;
    this.#running.add(token);
    this.#isDirty = true;
    return flare;
  }

  /** Notes a surge of the token's flare, and updates its numbers. */
  surge(token: TokenState, { score }: Reading, atMs: number, explain: () => Explanation): void {
    const { flare, trend, priceText: price } = token;
    if (!flare) return;
    flare.surge = { number: trend.surges, at: toTimestamp(atMs), price, score: roundTo(score, DECIMALS) };
    this.#refreshOne(token, flare, atMs, explain);
  }

  /** Ends the token's flare. `explanation` contains the reason. */
  finish(token: TokenState, atMs: number, explanation: Explanation, outcome: Outcome | null): void {
    if (!token.flare) return;
    const flare = viewFlare(token, token.flare.id, token.flare.startedMs, atMs, atMs);
    // Sort flares that end in the same second by id, independent of the order of judgment.
    let index = this.#finished.length;
    while (isAfter(this.#finished[index - 1], atMs, flare)) index -= 1;
    this.#finished.splice(index, 0, { finishedMs: atMs, flare, explanation, outcome });
    this.#hasNewFinished = true;
    this.#reviewMs = Number.NEGATIVE_INFINITY;
    token.publicFlareId = flare.id;
    token.flare = null;
    judgeRelevance(token, atMs);
    this.#running.delete(token);
    this.#isDirty = true;
  }

  /** Replaces a finished flare's outcome, if it is still listed. */
  setOutcome(id: string, outcome: Outcome): void {
    const finished = this.#finished.findLast(({ flare }) => flare.id === id);
    if (!finished) return;
    finished.outcome = outcome;
    this.#hasNewOutcome = true;
    this.#isDirty = true;
  }

  /** Updates the numbers of the running flares. `explain` returns a token's current explanation. */
  refresh(atMs: number, explain: (token: TokenState) => Explanation): void {
    for (const token of this.#running) {
      if (token.flare && (token.isStale || token.trades)) this.#refreshOne(token, token.flare, atMs, explain);
    }
  }

  /** Updates a running flare's numbers if its warnings changed: they must not wait. */
  refreshWarned(token: TokenState, atMs: number, explain: (token: TokenState) => Explanation): void {
    const { flare, canary } = token;
    if (flare && flare.explanation.warnings.join() !== canary.warnings.join())
      this.#refreshOne(token, flare, atMs, explain);
  }

  #refreshOne(
    token: TokenState,
    flare: RunningFlare,
    atMs: number,
    explain: (token: TokenState) => Explanation,
  ): void {
    token.isStale = false;
    const published = reuseIfEqual(flare.published, viewFlare(token, flare.id, flare.startedMs, null, atMs));
    const explanation = reuseExplanation(flare.explanation, explain(token));
    if (published === flare.published && explanation === flare.explanation) return;
    flare.published = published;
    flare.explanation = explanation;
    this.#isDirty = true;
  }

  /**
   * Moves running flares into `free` and out of it. Drops the finished flares that are no longer
   * listed.
   */
  step(atMs: number): void {
    const { freeAgeMs } = this.#settings;
    for (const token of this.#running) {
      const { flare } = token;
      if (!flare) continue;
      const isOldEnough = atMs - flare.startedMs >= freeAgeMs && !isUnfit(token.canary);
      // Missing liquidity may be a rug pull, so do not attract new buyers.
      const isFree = isOldEnough && (flare.isFree || !awaitsLiquidity(token, atMs, this.#settings));
      if (flare.isFree === isFree) continue;
      flare.isFree = isFree;
      if (isFree) token.publicFlareId = flare.id;
      judgeRelevance(token, atMs);
      this.#isDirty = true;
    }
    if (atMs >= this.#reviewMs) this.#review(atMs);
  }

  /** Drops the finished flares that are no longer listed. */
  #review(atMs: number): void {
    const count = this.#finished.length;
    this.#reviewMs = Number.POSITIVE_INFINITY;
    const listed = this.#finished.filter((finished, index) => {
      const untilMs = listedUntil(finished, count - index, this.#settings);
      if (atMs < untilMs) this.#reviewMs = Math.min(this.#reviewMs, untilMs);
      return atMs < untilMs;
    });
    if (listed.length === count) return;
    this.#finished.splice(0, count, ...listed);
    this.#hasNewFinished = true;
    this.#isDirty = true;
  }

  /**
   * Returns the lists, explanations and outcomes. Unchanged ones are the same objects as before.
   */
  serve(): ServedFlares {
    if (!this.#isDirty) return this.#served;
    this.#isDirty = false;
    const running = [...this.#running].flatMap((token) => token.flare ?? []);
    const listed = (flares: RunningFlare[]) => flares.map(({ published }) => published).sort(byStart);
    const before = this.#served.flares;
    const pro = reuseListIfSame(before.pro, listed(running));
    const free = reuseListIfSame(before.free, listed(running.filter(({ isFree }) => isFree)));
    const finished = this.#hasNewFinished
      ? reuseListIfSame(before.finished_trending, this.#finished.map(({ flare }) => flare).sort(byStart))
      : before.finished_trending;
    this.#hasNewFinished = false;
    const isSame = pro === before.pro && free === before.free && finished === before.finished_trending;
    this.#served = {
      flares: isSame ? before : { free, pro, finished_trending: finished },
      explanations: this.#explanations(pro, finished),
      outcomes: this.#outcomes(finished, before.finished_trending),
    };
    return this.#served;
  }

  #explanations(pro: readonly AnyFlare[], finished: readonly AnyFlare[]): Record<string, Explanation> {
    const all = new Map<string, Explanation>();
    for (const token of this.#running) if (token.flare) all.set(token.flare.id, token.flare.explanation);
    for (const { flare, explanation } of this.#finished) all.set(flare.id, explanation);
    return inOrderOf([...pro, ...finished], all, this.#served.explanations);
  }

  #outcomes(finished: readonly AnyFlare[], before: readonly AnyFlare[]): Record<string, Outcome> {
    if (finished === before && !this.#hasNewOutcome) return this.#served.outcomes;
    this.#hasNewOutcome = false;
    const all = new Map(this.#finished.map(({ flare, outcome }) => [flare.id, outcome]));
    return inOrderOf(finished, all, this.#served.outcomes);
  }
}

/** Returns the flares' values in the flares' order, or `before` if it has the same objects. */
function inOrderOf<T>(
  flares: readonly AnyFlare[],
  all: ReadonlyMap<string, T | null>,
  before: Record<string, T>,
): Record<string, T> {
  const next: Record<string, T> = {};
  for (const { id } of flares) {
    const value = all.get(id);
    if (value) next[id] = value;
  }
  return reuseRecordIfSame(before, next);
}

/**
 * Returns until when a finished flare is listed. `rank` is 1 for the newest. A flare beyond the
 * usual maximum is listed until its final outcome has been served for a minute; it is dropped at
 * once if it has no outcome or exceeds {@link PENDING_LISTS}.
 */
function listedUntil(
  { flare, finishedMs, outcome }: FinishedFlare,
  rank: number,
  settings: DetectorSettings,
): number {
  const { maxFinished } = settings;
  const expiryMs = finishedMs + settings.finishedMs;
  if (rank <= maxFinished) return expiryMs;
  if (rank > maxFinished * PENDING_LISTS || outcome === null) return Number.NEGATIVE_INFINITY;
  const measuredMs = Date.parse(flare.started_trending_at) + OUTCOME_MINUTES[2] * MINUTE_MS;
  return Math.min(expiryMs, Math.max(finishedMs, measuredMs) + MINUTE_MS);
}

function isAfter(other: FinishedFlare | undefined, atMs: number, flare: AnyFlare): boolean {
  return other !== undefined && other.finishedMs === atMs && other.flare.id > flare.id;
}

/** Returns `before` if only the time differs, so that a quiet flare causes no events. */
function reuseExplanation(before: Explanation, after: Explanation): Explanation {
  return jsonEqual({ ...after, at: before.at }, before) ? before : after;
}

/** Newest start first, ties by address, on the exchange by symbol. */
function byStart(a: AnyFlare, b: AnyFlare): number {
  if (a.started_trending_at !== b.started_trending_at)
    return a.started_trending_at < b.started_trending_at ? 1 : -1;
  const [left, right] = [tokenOf(a), tokenOf(b)];
  return left < right ? -1 : left > right ? 1 : 0;
}
