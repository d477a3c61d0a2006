import type {
  AnyFlare,
  Explanation,
  FinishCause,
  FlareRecord,
  Outcome,
} from "../../../../base/model/index.ts";
import type { FlareLists } from "../group/flare-lists.ts";

/**
 * How a flare looks on the timeline: `flaring` while it runs, `canary` if a warning ended it,
 * `faded` after any other end.
 */
type Fate = "flaring" | "faded" | "canary";

/**
 * Maximum number of bars once earlier ones are remembered, so that a page may stay open for weeks.
 */
const MAX_BARS = 1_000;

/** One flare on the timeline. */
export interface Bar {
  readonly flare: AnyFlare;
  readonly startMs: number;
  /** `undefined` while it runs. */
  readonly endMs: number | undefined;
  readonly fate: Fate;
  readonly cause: FinishCause | undefined;
  /** Why it flares or, once it has ended, what the detector saw at the end. */
  readonly why: Explanation | undefined;
  readonly outcome: Outcome | undefined;
}

/** Returns the flares of the lists and of the history, one bar each, newest start first. */
export function barsOf(view: FlareLists, older: readonly FlareRecord[]): readonly Bar[] {
  const { pro = [], free = [], finished_trending = [] } = view.flares ?? {};
  const bars = new Map<string, Bar>();
  const add = (
    flare: AnyFlare,
    cause: FinishCause | null | undefined,
    why?: Explanation,
    outcome?: Outcome,
  ) => {
    if (bars.has(flare.id)) return;
    const end = flare.finished_trending_at;
    bars.set(flare.id, {
      flare,
      startMs: Date.parse(flare.started_trending_at),
      endMs: end === null ? undefined : Date.parse(end),
      fate: end === null ? "flaring" : cause === "canary" ? "canary" : "faded",
      cause: cause ?? undefined,
      why,
      outcome,
    });
  };
  for (const flare of [...pro, ...free, ...finished_trending]) {
    const why = view.explanations[flare.id];
    add(flare, why?.finish_cause, why, view.outcomes?.[flare.id]);
  }
  for (const { flare, cause, why, outcome } of older)
    add(flare, cause, why ?? undefined, outcome ?? undefined);
  return [...bars.values()].sort((a, b) => b.startMs - a.startMs);
}

/**
 * Adds the ended bars from `before` that `bars` lacks. Above the maximum, drops the earliest
 * starts.
 */
export function withEarlier(bars: readonly Bar[], before: readonly Bar[]): readonly Bar[] {
  const known = new Set(bars.map(({ flare }) => flare.id));
  const earlier = before.filter(({ flare, endMs }) => endMs !== undefined && !known.has(flare.id));
  if (earlier.length === 0) return bars;
  return [...bars, ...earlier].sort((a, b) => b.startMs - a.startMs).slice(0, MAX_BARS);
}

/**
 * Whether the lists have the same flares in the same order, so that the timeline stays as it is.
 * Ignores changes within a flare.
 */
export function haveSameFlares(a: FlareLists | undefined, b: FlareLists): boolean {
  const [before, after] = [a?.flares, b.flares];
  if (before === after) return true;
  return (["pro", "free", "finished_trending"] as const).every((name) => {
    const [one = [], other = []] = [before?.[name], after?.[name]];
    return one.length === other.length && one.every(({ id }, at) => id === other[at]?.id);
  });
}
