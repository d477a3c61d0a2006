import type { AnyFlare, FlareRecord } from "../../../../base/model/index.ts";
import type { View } from "../../../sdk/index.ts";

/**
 * From this length, `finished_trending` may lack earlier ends. It can be longer, because flares
 * without a final outcome stay.
 */
export const FULL_FINISHED = 100;

/** One group's lists of flares, with what is known about each flare. */
export interface FlareLists extends Pick<View, "explanations" | "outcomes"> {
  readonly flares?: Partial<Readonly<Record<"pro" | "free" | "finished_trending", readonly AnyFlare[]>>>;
}

/**
 * Returns a token's flares, newest start first. A listed flare replaces its stored state, which is
 * older, but keeps what only the history has, such as the reason at its start. Omits a stored flare
 * that runs but is not listed, because the lists include all running flares. Without lists, returns
 * the stored flares.
 */
export function recordsOf(
  stored: readonly FlareRecord[],
  listed: readonly AnyFlare[],
  lists: Pick<FlareLists, "explanations" | "outcomes"> | undefined,
): readonly FlareRecord[] {
  if (!lists) return stored;
  const { explanations, outcomes = {} } = lists;
  const before = new Map(stored.map((record) => [record.flare.id, record]));
  const shown = listed.map((flare): FlareRecord => {
    const known = before.get(flare.id);
    const started = known?.started ?? null;
    const why = explanations[flare.id] ?? known?.why ?? null;
    if (flare.finished_trending_at === null) return { flare, started, why, cause: null, outcome: null };
    const outcome = outcomes[flare.id] ?? known?.outcome ?? null;
    return { flare, started, why, cause: known?.cause ?? why?.finish_cause ?? null, outcome };
  });
  const ids = new Set(listed.map(({ id }) => id));
  const others = stored.filter(({ flare }) => flare.finished_trending_at !== null && !ids.has(flare.id));
  const startMs = ({ flare }: FlareRecord) => Date.parse(flare.started_trending_at);
  return [...shown, ...others].toSorted((a, b) => startMs(b) - startMs(a));
}
