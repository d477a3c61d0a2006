import { DAY_MS, HOUR_MS, MINUTE_MS, startOf } from "../../../base/lib/time/time.ts";
import type { AnyFlare, Explanation } from "../../../base/model/index.ts";
import { END_TEXTS } from "../../../base/model/text/end-texts.ts";
import { AlertsButton } from "../parts/alerts/bell.tsx";
import { BotButton } from "../parts/bot/bot-button.tsx";
import { Filters, Hidden } from "../parts/filters.tsx";
import { LACKING } from "../parts/groups.tsx";
import { Rugs, whereText } from "../parts/headline.tsx";
import { Segments } from "../parts/segments.tsx";
import { FINISHED, FlareTable, rowOf } from "../parts/table/flare-columns.tsx";
import { flaresHash } from "../route.ts";
import { FINISH_CAUSES, type FlareQuery } from "../state/flare-query.ts";
import { countCauses, wantedFlares, withoutFilters } from "../state/select-flares.ts";
import { useNow } from "../state/store.ts";
import { useBars } from "../state/timeline/use-bars.ts";
import { go } from "../state/use-route.ts";
import { CAUSE_MEANINGS } from "../text/fate-text.ts";
import { endedSource, type FlaresViewProps, wantedBars } from "./now.tsx";

/** The flares that ended within the last day: how they went, and why they ended. */
export function FinishedView({ query, lists }: FlaresViewProps) {
  const { group, cause } = query;
  const hourMs = useNow((nowMs) => startOf(MINUTE_MS, nowMs) - HOUR_MS);
  const known = useBars({ group, view: lists, windowMs: DAY_MS });
  const bars = known.filter(({ endMs }) => endMs !== undefined);
  const flares: readonly AnyFlare[] = bars.map(({ flare }) => flare);
  const whys = Object.fromEntries(bars.flatMap(({ flare, why }) => (why ? [[flare.id, why]] : [])));
  const rows = wantedBars(bars, query).map((bar) => rowOf(endedSource(bar, lists)));
  const recent = bars.filter(({ endMs = 0 }) => endMs > hourMs).length;
  // Of a chosen end, only what the other filters hide.
  const ofCause = wantedFlares(flares, whys, { ...withoutFilters(query), cause }).length;
  return (
    <div class={LACKING[group]}>
      <div class="headline">
        <div>
          <h2>
            {recent} {recent === 1 ? "flare" : "flares"} ended in the last hour {whereText(group)}
          </h2>
          <p>
            <span class="aside">▲ start ● peak ■ end. Changes are since the start. </span>
            <Rugs bars={bars} />
          </p>
        </div>
        <div class="headline-actions">
          <AlertsButton label="Alert me" />
          <BotButton query={query} />
        </div>
      </div>
      <Filters query={query} columns={FINISHED}>
        <Causes query={query} flares={flares} explanations={whys} />
      </Filters>
      <FlareTable kind="flares finished" columns={FINISHED} rows={rows} query={query} />
      {bars.length === 0 ? (
        <p class="empty">No flare finished within the last 24 hours.</p>
      ) : (
        <Hidden query={query} hidden={ofCause - rows.length} shown={rows.length} />
      )}
    </div>
  );
}

interface CausesProps {
  readonly query: FlareQuery;
  /** All finished flares. */
  readonly flares: readonly AnyFlare[];
  readonly explanations: Readonly<Record<string, Explanation>>;
}

/**
 * Chooses finished flares by why they ended, with the number that the other filters leave of each
 * cause. Offers only causes that a flare has, and the chosen one.
 */
function Causes({ query, flares, explanations }: CausesProps) {
  const matching = wantedFlares(flares, explanations, { ...query, cause: undefined });
  const counts = countCauses(matching, explanations);
  const known = countCauses(flares, explanations);
  const offered = FINISH_CAUSES.filter((cause) => known.has(cause) || cause === query.cause);
  if (offered.length === 0) return null;
  return (
    <Segments
      legend="Why they ended"
      name="cause"
      options={[undefined, ...offered]}
      chosen={query.cause}
      onChoose={(cause) => go(flaresHash({ ...query, cause }), "push")}
      label={(cause) => (
        <span title={cause && CAUSE_MEANINGS[cause]}>
          {cause === undefined ? "Any end" : END_TEXTS[cause]}{" "}
          <small>{cause === undefined ? matching.length : (counts.get(cause) ?? 0)}</small>
        </span>
      )}
    />
  );
}
