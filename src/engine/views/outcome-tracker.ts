import { MINUTE_MS, SECOND_MS } from "../../base/lib/time/time.ts";
import type { MarketGroup } from "../../base/market/index.ts";
import { type FinishCause, GROUPS, OUTCOME_MINUTES, type Outcome } from "../../base/model/index.ts";
import type { Detector } from "../detect/detector.ts";
import { lostShare } from "../detect/hysteresis.ts";
import { liquidityText } from "../detect/pools.ts";
import type { FlareStart, OddsBook } from "../odds-book.ts";
import type { DetectorSettings } from "../settings.ts";
import {
  changeFrom,
  confirmCollapse,
  dueMinutes,
  dueMs,
  type FlareEnd,
  type FollowedFlare,
  followFlare,
  heldChange,
  noteDanger,
  noteFall,
  type PricePoint,
  raisePeak,
  ratioFrom,
  toPercent,
} from "../state/followed-flare.ts";
import type { RunningFlare, TokenState } from "../state/token-state.ts";
import { controlOf, stepControl } from "./control-moments.ts";
import { toTimestamp } from "./flare-view.ts";

const LAST_MS = OUTCOME_MINUTES[2] * MINUTE_MS;

type TokensOf = (group: MarketGroup) => Iterable<TokenState>;

/** Measures the outcomes of flares until they are final. */
export class OutcomeTracker {
  readonly #settings: DetectorSettings;
  readonly #detector: Detector;
  readonly #tokensOf: TokensOf;
  readonly #odds: OddsBook | undefined;
  readonly #tokens = new Set<TokenState>();
  #deadlineMs = Number.POSITIVE_INFINITY;

  constructor(settings: DetectorSettings, detector: Detector, tokensOf: TokensOf, odds?: OddsBook) {
    this.#settings = settings;
    this.#odds = odds;
    this.#detector = detector;
    this.#tokensOf = tokensOf;
  }

  /** When a price is next measured, apart from whole minutes; Infinity if never. */
  get deadlineMs(): number {
    return this.#deadlineMs;
  }

  resume(token: TokenState): void {
    if (token.followed === null) return;
    this.#tokens.add(token);
    for (const followed of token.followed) this.#plan(followed);
  }

  start(token: TokenState, { id, explanation }: RunningFlare, asked: FlareStart, atMs: number): void {
    const known = {
      start_score: explanation.score,
      start_liquidity: token.pools.length > 0 ? liquidityText(token) : null,
      control: controlOf(token, atMs),
    };
    const followed = followFlare(id, this.#pointOf(token, atMs), known, { asked, odds: explanation.odds });
    token.followed = [...(token.followed ?? []), followed];
    this.#tokens.add(token);
    this.#plan(followed);
  }

  /**
   * Records whether the price is far below the peaks of the token's flares. Call it at each
   * judgment.
   */
  note(token: TokenState, atMs: number): void {
    const { canary } = token;
    const price = lastPrice(token);
    const isRemoved = canary.warnings.includes("liquidity-removed");
    const canaryMs = canary.isOn ? atMs - canary.changedMs : 0;
    for (const followed of token.followed ?? []) {
      noteFall(followed, price, atMs, canaryMs, this.#settings.outcomeCollapseShare);
      noteDanger(followed, price, isRemoved, atMs);
    }
  }

  /** Ends the token's running flare. Returns its outcome so far; `null` if it was not followed. */
  finish(token: TokenState, cause: FinishCause, atMs: number): Outcome | null {
    const followed = token.followed?.findLast(({ end }) => end === null);
    if (!followed) return null;
    const point = this.#pointOf(token, atMs);
    if (atMs % MINUTE_MS === 0) this.#noteMinute(followed, point);
    this.#measureDue(token, followed, point);
    raisePeak(followed, point);
    followed.end = { point, cause, lost: lostShare(token.trend, point.price) };
    const isTrap = cause === "canary" && token.canary.trapSinceMs >= 0;
    if (followed.holding) followed.holding.endChange = isTrap ? -100 : heldChange(followed, lastPrice(token));
    if (isFinal(followed, atMs)) this.#drop(token, atMs);
    return this.#view(followed, followed.end, atMs);
  }

  /**
   * Takes the measurements due at `atMs`, also at control moments. Returns the outcomes that
   * are final now, with their flares' ids.
   */
  step(atMs: number): readonly (readonly [id: string, outcome: Outcome])[] {
    const isMinute = atMs % MINUTE_MS === 0;
    if (!isMinute && atMs < this.#deadlineMs) return [];
    if (isMinute)
      for (const group of GROUPS)
        for (const token of this.#tokensOf(group)) stepControl(token, this.#detector, atMs);
    const final: [string, Outcome][] = [];
    this.#deadlineMs = Number.POSITIVE_INFINITY;
    for (const token of this.#tokens) {
      const point = this.#pointOf(token, atMs);
      for (const followed of token.followed ?? []) {
        if (isMinute) this.#noteMinute(followed, point);
        this.#measureDue(token, followed, point);
        const { id, end } = followed;
        if (end && isFinal(followed, atMs)) final.push([id, this.#view(followed, end, atMs)]);
        else this.#plan(followed);
      }
      this.#drop(token, atMs);
    }
    return final;
  }

  #noteMinute(followed: FollowedFlare, point: PricePoint): void {
    raisePeak(followed, point);
    confirmCollapse(followed);
  }

  /** Measures the next change of OUTCOME_MINUTES if it is due. */
  #measureDue(token: TokenState, followed: FollowedFlare, point: PricePoint): void {
    const { changes, relativeChanges, start } = followed;
    const minutes = dueMinutes(followed, point.atMs);
    if (minutes === undefined) return;
    raisePeak(followed, point);
    const ratio = ratioFrom(start, point.price);
    const median =
      ratio > 0 ? this.#detector.medianRatio(this.#tokensOf(token.group), minutes, point.atMs) : null;
    changes.push(changeFrom(start, point.price));
    followed.holding?.changes.push(heldChange(followed, lastPrice(token)));
    relativeChanges.push(median === null ? null : toPercent(ratio - median));
  }

  #pointOf(token: TokenState, atMs: number): PricePoint {
    return { price: this.#detector.knownPrice(token, atMs), text: token.priceText, atMs };
  }

  /** Returns the outcome, which the book of odds learns if it is final. */
  #view(followed: FollowedFlare, end: FlareEnd, atMs: number): Outcome {
    const outcome = viewOutcome(followed, end, atMs);
    if (outcome.final && followed.holding) this.#odds?.note(followed.holding.asked, outcome);
    return outcome;
  }

  #plan(followed: FollowedFlare): void {
    this.#deadlineMs = Math.min(this.#deadlineMs, dueMs(followed));
  }

  /** Stops following the flares whose outcomes are final. */
  #drop(token: TokenState, atMs: number): void {
    const open = token.followed?.filter((one) => !isFinal(one, atMs)) ?? [];
    token.followed = open.length > 0 ? open : null;
    if (open.length === 0) this.#tokens.delete(token);
  }
}

function isFinal({ end, startedMs }: FollowedFlare, atMs: number): boolean {
  return end !== null && atMs >= startedMs + LAST_MS;
}

function viewOutcome(followed: FollowedFlare, end: FlareEnd, atMs: number): Outcome {
  const { start, known, peak, changes, relativeChanges, collapsedMs, collapsedCanaryMs } = followed;
  const [change_5m = null, change_15m = null, change_60m = null] = changes;
  const [relative_change_5m = null, relative_change_15m = null, relative_change_60m = null] = relativeChanges;
  return {
    start_price: textOf(start),
    peak_price: textOf(peak),
    peak_at: peak.price > 0 ? toTimestamp(peak.atMs) : null,
    peak_change: changeFrom(start, peak.price),
    end_price: textOf(end.point),
    end_change: changeFrom(start, end.point.price),
    change_5m,
    change_15m,
    change_60m,
    relative_change_5m,
    relative_change_15m,
    relative_change_60m,
    given_back: end.lost === null ? null : toPercent(end.lost),
    ended_by: end.cause,
    collapsed_at: collapsedMs < 0 ? null : toTimestamp(collapsedMs),
    collapse_warning_s: collapsedMs < 0 ? null : Math.floor(collapsedCanaryMs / 1_000),
    final: isFinal(followed, atMs),
    ...known,
    ...viewHolding(followed, end),
  };
}

function viewHolding({ holding, startedMs, start }: FollowedFlare, end: FlareEnd): Partial<Outcome> {
  if (!holding) return {};
  const { changes, endChange, lowest, ruggedMs, odds } = holding;
  const [, change_15m = null, change_60m = null] = changes;
  const isWithinHour = ruggedMs >= 0 && ruggedMs <= startedMs + LAST_MS;
  return {
    held: {
      change_15m,
      change_60m,
      lowest_15m: change_15m === null ? null : changeFrom(start, lowest),
      change_end: endChange,
      end_s: Math.floor((end.point.atMs - startedMs) / SECOND_MS),
      rugged_s: isWithinHour ? Math.floor((ruggedMs - startedMs) / SECOND_MS) : null,
    },
    ...(odds === undefined ? {} : { odds }),
  };
}

function lastPrice({ price, priceScale }: TokenState): number {
  return price / priceScale;
}

function textOf({ price, text }: PricePoint): string | null {
  return price > 0 ? text : null;
}
