import { DEFAULT_SETTINGS, type DetectorSettings } from "../../../src/engine/index.ts";
import type { Label } from "../../../src/feeds/simulated/market/episodes/label.ts";
import { type Detector, priceRule, volumeRule } from "./detectors.ts";
import { nameOf } from "./last-trades.ts";
import { type Liveness, sumLiveness } from "./liveness.ts";
import { type Followed, measureOutcomes, type OutcomeRow } from "./outcomes.ts";
import { measurePumps, type PumpMeasure } from "./pump-measures.ts";
import { GRACE_MINUTES, MILLISECONDS, type Score, type Span, scoreEpisodes } from "./score.ts";
import { MINUTE_MS } from "./series.ts";
import { runSimulated, type SimulatedPlan, type SimulatedRun } from "./simulated-run.ts";
import { matchRate } from "./thresholds.ts";

/** The score of one kind of labelled episode. Delays are in milliseconds. */
export interface KindScore extends Score {
  /** The label, for example `pump sharp`. */
  readonly kind: string;
  /** Further excluded episodes, in which the whole market moved. */
  readonly leftOutWide: number;
}

/** How often the canary was on. */
export interface CanaryScore {
  readonly kind: string;
  readonly n: number;
  /** Share with the canary on at any moment from the start to a minute after the end. */
  readonly byEnd: number;
  /** Share with the canary on before the liquidity was removed; `null` if none is removed. */
  readonly beforeRemoval: number | null;
}

/** One detector's results on simulated hours. */
export interface SimulatedRow {
  readonly detector: string;
  /**
   * Flares per hour on BSC that began outside every labelled episode: the natural rate of this
   * market.
   */
  readonly naturalPerHour: number;
  readonly kinds: readonly KindScore[];
}

const DANGERS: readonly Label["kind"][] = ["rug", "honeypot"];
const WASHES: readonly Label["kind"][] = ["pump", "wash", "thin", "dust"];
const HARMLESS: readonly Label["kind"][] = ["rebalance", "jit", "migration"];
const GRACE_MS = GRACE_MINUTES * MINUTE_MS;
const RULE_RANGE = { low: 1.05, high: 100_000, steps: 16 };
const SCORE_RANGE = { low: 0.5, high: 6, steps: 6 };

/** All measurements on simulated hours. */
export interface SimulatedResult {
  readonly rows: readonly SimulatedRow[];
  readonly canary: readonly CanaryScore[];
  readonly pumps: readonly PumpMeasure[];
  readonly liveness: Liveness;
  /** Price changes after BSC's flares of each class, beside random moments. */
  readonly outcomes: readonly OutcomeRow[];
}

/**
 * Scores Flarewire on BSC and on the other groups, its canary on BSC, and the liveness of its
 * lists; with `rules`, also two plain rules.
 */
export function evaluateSimulated(plans: readonly SimulatedPlan[], rules = true): SimulatedResult {
  const runs = plans.map((plan) => runSimulated(plan));
  const own = rowOf("Flarewire", runs, true);
  const others = { ...rowOf("Flarewire, the other groups", runs, false), naturalPerHour: Number.NaN };
  return {
    rows: [own, others, ...(rules ? ruleRows(own, runs) : [])],
    canary: [
      ...["pump", "rug", "honeypot"].map((kind) => scoreCanary(kind, runs)),
      ...HARMLESS.map((kind) => scoreFalseCanary(kind, runs)),
    ],
    pumps: measurePumps(runs),
    liveness: sumLiveness(runs.map(({ liveness }) => liveness)),
    outcomes: measureOutcomes(
      runs.map((run) => {
        const { minutes: market, fromMs } = run;
        return { market, from: (fromMs - market.startMs) / MINUTE_MS, flares: followedOf(run) };
      }),
    ),
  };
}

/**
 * Returns BSC's flares of the scored hours with final outcomes, by the label in which they began.
 */
function followedOf({ flares, labels, outcomes, fromMs }: SimulatedRun): readonly Followed[] {
  const own = flares.filter(({ pair, startAt }) => pair.startsWith("bsc ") && startAt >= fromMs);
  return own.flatMap(({ pair, startAt }) => {
    const outcome = outcomes.get(`${pair} ${startAt}`);
    const label = labels.find(({ kind, group, token, startAtMs, endAtMs }) => {
      const isOwn = nameOf(group, token) === pair && [...WASHES, ...DANGERS].includes(kind);
      return isOwn && startAt >= startAtMs && startAt < endAtMs + GRACE_MS;
    });
    return outcome ? [{ kind: label?.kind ?? "natural", pair, outcome }] : [];
  });
}

function ruleRows(own: SimulatedRow, runs: readonly SimulatedRun[]): readonly SimulatedRow[] {
  const ruleRuns = (rule: Detector) => runs.map((run) => ({ ...run, flares: flaresOfRule(rule, run) }));
  const equal = (rule: (threshold: number) => Detector) =>
    matchRate(own.naturalPerHour, RULE_RANGE, (threshold) => naturalRate(ruleRuns(rule(threshold))));
  const percent = equal(priceRule);
  const factor = equal(volumeRule);
  return [
    rowOf("price +8 % in 15 min", ruleRuns(priceRule(8)), true),
    rowOf(`price +${percent.toFixed(1)} % in 15 min (equal rate)`, ruleRuns(priceRule(percent)), true),
    rowOf("volume × 8 in 5 min", ruleRuns(volumeRule(8)), true),
    rowOf(`volume × ${factor.toFixed(1)} in 5 min (equal rate)`, ruleRuns(volumeRule(factor)), true),
  ];
}

/**
 * Scores the detector of trades without each of its terms (weight 0). The start score is chosen
 * again for an equal natural rate.
 */
export function ablateSimulated(plans: readonly SimulatedPlan[]): readonly SimulatedRow[] {
  const runsAt = (settings: Partial<DetectorSettings>) => plans.map((plan) => runSimulated(plan, settings));
  const target = naturalRate(runsAt({}));
  return (["buyers", "imbalance", "price", "volume"] as const).map((term) => {
    const settingsAt = (tradeStartScore: number) => ({
      tradeStartScore,
      weights: { ...DEFAULT_SETTINGS.weights, [term]: 0 },
    });
    const start = matchRate(target, SCORE_RANGE, (score) => naturalRate(runsAt(settingsAt(score))));
    return rowOf(`without ${term} (start score ${start.toFixed(2)})`, runsAt(settingsAt(start)), true);
  });
}

/** Scores one detector's flares by kind and, for pumps, by shape. */
export function rowOf(detector: string, runs: readonly SimulatedRun[], isBsc: boolean): SimulatedRow {
  const kinds = new Map<string, Parts>();
  for (const run of runs) {
    for (const [kind, spans] of episodesOf(run, isBsc)) {
      const parts = kinds.get(kind) ?? { episodes: [], flares: [], leftOutWide: 0 };
      kinds.set(kind, parts);
      const tag = (span: Span): Span => ({ ...span, pair: `${run.seed} ${span.pair}` });
      const clear = kind === "wide" ? spans : spans.filter((span) => !widesOf(run).some(overlaps(span)));
      parts.leftOutWide += spans.length - clear.length;
      parts.episodes.push(...clear.map(tag));
      parts.flares.push(...run.flares.map(tag));
    }
  }
  const scores = [...kinds].map(([kind, parts]) => ({
    kind,
    leftOutWide: parts.leftOutWide,
    ...scoreEpisodes(parts.episodes, parts.flares, MILLISECONDS),
  }));
  return {
    detector,
    naturalPerHour: naturalRate(runs),
    kinds: scores.toSorted((a, b) => order(a.kind) - order(b.kind) || (a.kind < b.kind ? -1 : 1)),
  };
}

interface Parts {
  readonly episodes: Span[];
  readonly flares: Span[];
  leftOutWide: number;
}

function order(kind: string): number {
  return ["pump", "rug", "honeypot", "wash", "thin", "dust", "wide"].indexOf(kind.split(" ")[0] ?? "");
}

/**
 * Returns, by kind, the labelled episodes that began within the scored hours and early enough to be
 * complete.
 */
function episodesOf(hours: SimulatedRun, isBsc: boolean): Map<string, Span[]> {
  const all = new Map<string, Span[]>();
  const add = (kind: string, span: Span) => void all.set(kind, [...(all.get(kind) ?? []), span]);
  for (const label of hours.labels) {
    if (!isScored(label, hours) || (label.group === "bsc") !== isBsc) continue;
    if (WASHES.includes(label.kind) || DANGERS.includes(label.kind)) add(label.kind, spanOf(label));
    if (label.kind === "pump") add(`pump ${label.shape}`, spanOf(label));
  }
  if (!isBsc) return all;
  for (const wide of hours.labels.filter((label) => label.kind === "wide" && label.shape === "up")) {
    if (isScored(wide, hours)) for (const span of quietTokens(hours, wide)) add("wide", span);
  }
  return all;
}

/**
 * Returns the quiet tokens that a wide move raises: all of BSC that traded in the hour before and
 * have no episode of their own.
 */
function quietTokens(hours: SimulatedRun, wide: Label): readonly Span[] {
  const { startMs, series } = hours.minutes;
  const at = Math.floor((wide.startAtMs - startMs) / MINUTE_MS);
  const live = series.filter(({ volume }) => volume.subarray(at - 60, at).some((usd) => usd > 0));
  const busy = hours.labels.filter((label) => label.kind !== "listing" && label.token !== null).map(spanOf);
  const own = { startAt: wide.startAtMs - GRACE_MS, endAt: wide.endAtMs + GRACE_MS };
  const busyPairs = new Set(busy.filter(overlaps(own)).map(({ pair }) => pair));
  return live
    .filter(({ pair }) => !busyPairs.has(pair))
    .map(({ pair }) => ({ pair, startAt: wide.startAtMs, endAt: wide.endAtMs }));
}

/**
 * Returns whether the episode was complete within the scored hours, without an outage of its group.
 */
function isScored(label: Label, { fromMs, toMs, labels }: SimulatedRun): boolean {
  if (label.startAtMs < fromMs || label.endAtMs + GRACE_MS > toMs) return false;
  return !labels.some(({ kind, group, startAtMs, endAtMs }) => {
    const isSilent = kind === "outage" && group === label.group;
    return isSilent && startAtMs < label.endAtMs && endAtMs > label.startAtMs;
  });
}

function spanOf(label: Label): Span {
  return { pair: nameOf(label.group, label.token), startAt: label.startAtMs, endAt: label.endAtMs };
}

function widesOf(hours: SimulatedRun): readonly Span[] {
  return hours.labels.filter(({ kind }) => kind === "wide").map(spanOf);
}

function overlaps(span: Pick<Span, "startAt" | "endAt">) {
  return (other: Pick<Span, "startAt" | "endAt">) => other.startAt < span.endAt && span.startAt < other.endAt;
}

/**
 * Returns the flares per hour on BSC that began outside every labelled episode of their token and
 * outside every wide move.
 */
function naturalRate(runs: readonly SimulatedRun[]): number {
  let count = 0;
  let all = 0;
  for (const hours of runs) {
    const labelled = Map.groupBy(
      hours.labels.filter(({ kind, token }) => token !== null && kind !== "listing").map(spanOf),
      (span) => span.pair,
    );
    const wides = widesOf(hours);
    all += (hours.toMs - hours.fromMs) / (60 * MINUTE_MS);
    count += hours.flares.filter(({ pair, startAt }) => {
      if (!pair.startsWith("bsc ") || startAt < hours.fromMs) return false;
      const own = [...(labelled.get(pair) ?? []), ...wides];
      return !own.some((span) => startAt >= span.startAt && startAt < span.endAt + GRACE_MS);
    }).length;
  }
  return count / all;
}

function flaresOfRule(rule: Detector, { minutes, fromMs }: SimulatedRun): readonly Span[] {
  const toMs = (minute: number) => minutes.startMs + (minute + 1) * MINUTE_MS;
  const from = (fromMs - minutes.startMs) / MINUTE_MS;
  return rule(minutes, from, minutes.minutes).map(({ pair, startAt, endAt }) => ({
    pair,
    startAt: toMs(startAt),
    endAt: toMs(endAt),
  }));
}

/** Returns how often the canary was on during BSC's episodes of one kind. */
export function scoreCanary(kind: string, runs: readonly SimulatedRun[]): CanaryScore {
  let [n, byEnd, before] = [0, 0, 0];
  let removes = false;
  for (const hours of runs) {
    const canaries = Map.groupBy(hours.canaries, ({ pair }) => pair);
    for (const label of hours.labels) {
      if (label.kind !== kind || label.group !== "bsc" || !isScored(label, hours)) continue;
      const own = canaries.get(nameOf(label.group, label.token)) ?? [];
      const isOnBefore = (endAt: number) => own.some(overlaps({ startAt: label.startAtMs, endAt }));
      n += 1;
      if (isOnBefore(label.endAtMs + MINUTE_MS)) byEnd += 1;
      if (label.removedAtMs === null) continue;
      removes = true;
      if (isOnBefore(label.removedAtMs)) before += 1;
    }
  }
  return { kind, n, byEnd: byEnd / Math.max(1, n), beforeRemoval: removes ? before / Math.max(1, n) : null };
}

/**
 * Returns how often a harmless move of liquidity on BSC turned the canary on. Excludes moves during
 * which it was on before.
 */
function scoreFalseCanary(kind: Label["kind"], runs: readonly SimulatedRun[]): CanaryScore {
  let [n, on] = [0, 0];
  for (const hours of runs) {
    const canaries = Map.groupBy(hours.canaries, ({ pair }) => pair);
    for (const label of hours.labels) {
      if (label.kind !== kind || label.group !== "bsc" || !isScored(label, hours)) continue;
      const own = canaries.get(nameOf(label.group, label.token)) ?? [];
      const { startAtMs } = label;
      if (own.some(({ startAt, endAt }) => startAt < startAtMs && endAt > startAtMs)) continue;
      n += 1;
      const untilMs = label.endAtMs + 2 * MINUTE_MS;
      if (own.some(({ startAt }) => startAt >= startAtMs && startAt <= untilMs)) on += 1;
    }
  }
  return { kind, n, byEnd: on / Math.max(1, n), beforeRemoval: null };
}
