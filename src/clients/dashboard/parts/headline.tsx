import { useComputed } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { formatShare } from "../../../base/lib/text/percent.ts";
import { HOUR_MS, MINUTE_MS, startOf } from "../../../base/lib/time/time.ts";
import { GROUP_FACTS, type GroupName } from "../../../base/model/groups.ts";
import { flaresHash } from "../route.ts";
import type { FlareQuery } from "../state/flare-query.ts";
import { filledShare } from "../state/judge.ts";
import { freshness, useNow } from "../state/store.ts";
import type { Bar } from "../state/timeline/bars.ts";
import { go } from "../state/use-route.ts";
import { formatMoment, zoneName } from "../text/format.ts";

/** Says where: `on BSC` or `on exchanges`. */
export function whereText(group: GroupName): string {
  return GROUP_FACTS[group].kind === "exchange" ? "on exchanges" : `on ${GROUP_FACTS[group].label}`;
}

interface HeadlineProps {
  readonly query: FlareQuery;
  readonly running: number;
  readonly bars: readonly Bar[];
  readonly children?: ComponentChildren;
}

/** How many tokens flare, and how many flares of the last hour were possible rugs. */
export function Headline({ query, running, bars, children }: HeadlineProps) {
  const filled = useComputed(() => filledShare(freshness.value)).value;
  const { group, at, channel } = query;
  const tokens = running === 0 ? "Nothing" : running === 1 ? "1 token" : `${running} tokens`;
  const verb = at === undefined ? (running > 1 ? "are" : "is") : running > 1 ? "were" : "was";
  return (
    <div class="headline">
      <div>
        <h2>
          <b class={running > 0 && at === undefined ? "live" : undefined}>{tokens}</b> {verb} flaring{" "}
          {whereText(group)}
          {at !== undefined && (
            <>
              {" at "}
              <time dateTime={at}>{formatMoment(at)}</time> {zoneName()}
            </>
          )}
        </h2>
        {at === undefined ? (
          <p>
            {filled !== undefined && <b>{`Reading the past: ${formatShare(filled)}. `}</b>}
            <span class="aside">
              {channel === "flares.free"
                ? "For 5 minutes or more, without a warning. "
                : running > 0 && "Traders are suddenly piling in. "}
            </span>
            <Rugs bars={bars} />
          </p>
        ) : (
          <button type="button" onClick={() => go(flaresHash({ ...query, at: undefined }), "push")}>
            Back to now
          </button>
        )}
      </div>
      <div class="headline-actions">{children}</div>
    </div>
  );
}

/** How many of the flares that ended in the last hour were possible rugs. */
export function Rugs({ bars }: Pick<HeadlineProps, "bars">) {
  const fromMs = useNow((nowMs) => startOf(MINUTE_MS, nowMs) - HOUR_MS);
  const ended = bars.filter(({ endMs }) => endMs !== undefined && endMs > fromMs);
  const rugs = ended.filter(({ fate }) => fate === "canary").length;
  if (ended.length === 0) return <>No flare ended in the last hour.</>;
  if (rugs === 0) return <>{`No possible rug among the ${ended.length} that ended in the last hour.`}</>;
  return (
    <b class="down">
      {`${rugs} of ${ended.length} that ended in the last hour ${rugs === 1 ? "was a possible rug" : "were possible rugs"}.`}
    </b>
  );
}
