import { useEffect, useMemo, useState } from "preact/hooks";
import type { GroupName } from "../../../base/model/groups.ts";
import type { AnyFlare } from "../../../base/model/index.ts";
import { END_TEXTS } from "../../../base/model/text/end-texts.ts";
import { AlertsButton } from "../parts/alerts/bell.tsx";
import { BotButton } from "../parts/bot/bot-button.tsx";
import { Filters, Hidden } from "../parts/filters.tsx";
import { Ago } from "../parts/flare/age.tsx";
import { CHOICES, groupLabel, LACKING } from "../parts/groups.tsx";
import { Headline } from "../parts/headline.tsx";
import { FlareTable, JUST_ENDED, rowOf, runningColumns } from "../parts/table/flare-columns.tsx";
import { TokenTable } from "../parts/table/token-table.tsx";
import { Strip } from "../parts/timeline/strip.tsx";
import { UntrustedText } from "../parts/untrusted-text.tsx";
import { flaresHash } from "../route.ts";
import { useCandles } from "../state/candles/use-candles.ts";
import { useStartPrices } from "../state/candles/use-start-prices.ts";
import { DEFAULT_QUERY, type FlareQuery, LIST_OF_CHANNEL, shownQuery } from "../state/flare-query.ts";
import type { FlareLists } from "../state/group/flare-lists.ts";
import { wantedFlares, withoutFilters } from "../state/select-flares.ts";
import { key, server, view } from "../state/store.ts";
import type { Bar } from "../state/timeline/bars.ts";
import { WINDOW_MS } from "../state/timeline/lanes.ts";
import { useBars } from "../state/timeline/use-bars.ts";
import { go } from "../state/use-route.ts";
import { fetchWithKey } from "../state/visitor/fetch-with-key.ts";

/** Number of flares in the list of those that just ended. */
const JUST = 6;

export interface FlaresViewProps {
  readonly query: FlareQuery;
  readonly lists: FlareLists;
}

/** What flares now, or flared at a past minute: the first page that a visitor sees. */
export function NowView({ query: given, lists }: FlaresViewProps) {
  const query = shownQuery(given, lists);
  const { group, at } = query;
  const past = usePast(group, at);
  const bars = useBars({ group, view: lists, windowMs: WINDOW_MS });
  const wanted = wantedBars(bars, query);
  const pastList = past instanceof Error || past?.at !== at ? undefined : past;
  const shown = at === undefined ? lists : pastList?.view;
  const all = shown?.flares?.[LIST_OF_CHANNEL[query.channel]] ?? [];
  const flares = wantedFlares(all, shown?.explanations ?? {}, query);
  const priced = group === "bsc" ? (lists.flares?.pro ?? lists.flares?.free ?? []) : [];
  const candles = useCandles(priced, at);
  const hasCandles = group === "bsc" && !candles.isMissing;
  const starts = useStartPrices(group, all[0]?.id);
  const hasStarts = all.some(({ id }) => starts.has(id));
  const hasOdds = all.some(({ id }) => shown?.explanations[id]?.odds != null);
  const columns = useMemo(
    () => runningColumns(group, { hasCandles, hasStarts, hasOdds }),
    [group, hasCandles, hasStarts, hasOdds],
  );
  const atMs = pastList && Date.parse(pastList.observedAt);
  const rows = flares.map((flare) =>
    rowOf({
      flare,
      why: shown?.explanations[flare.id],
      candles: candles.byAddress.get(flare.token.address?.toLowerCase() ?? ""),
      closedMs: candles.closedMs,
      startPrice: starts.get(flare.id),
      atMs,
    }),
  );
  return (
    <div class={hasCandles ? LACKING[group] : `${LACKING[group]} lacks-candles`}>
      <Headline query={query} running={all.length} bars={bars}>
        <AlertsButton label="Alert me" />
        <BotButton query={query} />
      </Headline>
      <Strip
        group={group}
        bars={wanted}
        view={lists}
        at={at}
        onAt={(chosen, how) => go(flaresHash({ ...query, at: chosen }), how)}
      />
      <Filters query={query} columns={columns} />
      <FlareTable kind="flares" columns={columns} rows={rows} query={query} />
      <Hidden query={query} hidden={all.length - rows.length} shown={rows.length} />
      {all.length === 0 && <Nothing query={query} past={past} bars={bars} />}
      {at === undefined && <JustEnded bars={wanted} view={lists} query={query} />}
    </div>
  );
}

/** Returns the bars that the filters leave, so that strip and list show the same tokens. */
export function wantedBars(bars: readonly Bar[], query: FlareQuery): readonly Bar[] {
  const whys = Object.fromEntries(bars.flatMap(({ flare, why }) => (why ? [[flare.id, why]] : [])));
  const flares: readonly AnyFlare[] = bars.map(({ flare }) => flare);
  const wanted = wantedFlares(flares, whys, query);
  if (wanted === flares) return bars;
  const ids = new Set(wanted.map(({ id }) => id));
  return bars.filter(({ flare }) => ids.has(flare.id));
}

/** Why the list is empty, and what flared last. */
function Nothing({
  query,
  past,
  bars,
}: {
  readonly query: FlareQuery;
  readonly bars: readonly Bar[];
  readonly past: Past | Error | undefined;
}) {
  if (query.at !== undefined) {
    const text =
      past instanceof Error ? past.message : past?.at === query.at ? "None at this time." : "Loading…";
    return (
      <p class="empty" role="status">
        {text}
      </p>
    );
  }
  const last = newestEnds(bars)[0];
  // A recording may have tokens of another group alone.
  const charts = view.value?.charts;
  const hasTokens = (group: GroupName) => (charts?.[group]?.length ?? 0) > 0;
  const other = hasTokens(query.group) ? undefined : CHOICES.find(hasTokens);
  return (
    <p class="empty">
      New flares appear here, usually within a minute of their start.
      {last?.endMs !== undefined && (
        <>
          {" The last one: "}
          <UntrustedText text={last.flare.token.symbol} />
          {`, ${last.cause ? END_TEXTS[last.cause] : "ended"} `}
          <Ago atMs={last.endMs} />.
        </>
      )}
      {other && (
        <>
          {` No token of ${groupLabel(query.group)} is in the chart now. See `}
          <a href={flaresHash({ ...DEFAULT_QUERY, group: other })}>{groupLabel(other)}</a>.
        </>
      )}
    </p>
  );
}

function newestEnds(bars: readonly Bar[]): readonly Bar[] {
  return bars.filter(({ endMs }) => endMs !== undefined).toSorted((a, b) => (b.endMs ?? 0) - (a.endMs ?? 0));
}

interface JustEndedProps {
  readonly bars: readonly Bar[];
  readonly view: FlareLists;
  readonly query: FlareQuery;
}

function JustEnded({ bars, view, query }: JustEndedProps) {
  const rows = newestEnds(bars)
    .slice(0, JUST)
    .map((bar) => rowOf(endedSource(bar, view)));
  if (rows.length === 0) return null;
  const all = flaresHash({ ...withoutFilters(query), order: "newest", channel: "flares.finished" });
  return (
    <section class="just-ended" aria-labelledby="just-ended">
      <h3 id="just-ended">
        Just ended <a href={all}>All of the last day</a>
      </h3>
      <TokenTable kind="ended" columns={JUST_ENDED} rows={rows} />
    </section>
  );
}

/** Returns a row's source for an ended flare, with what the lists know by now. */
export function endedSource(
  { flare, why, outcome, cause }: Bar,
  view: FlareLists,
): Parameters<typeof rowOf>[0] {
  return {
    flare,
    cause,
    why: view.explanations[flare.id] ?? why,
    outcome: view.outcomes?.[flare.id] ?? outcome,
  };
}

const NOT_STORED =
  "The server stores nothing for this minute: it was not running, had no data, or has deleted it.";

/** The lists of a group as they were at a past minute. */
interface Past {
  readonly at: string;
  readonly view: FlareLists;
  readonly observedAt: string;
}

/**
 * Fetches the lists of a past minute. Returns `undefined` before the response and without `at`, and
 * an Error if the lists are not stored or the request failed. When `at` changes, the first
 * rendering still gets the earlier result.
 */
function usePast(group: GroupName, at: string | undefined): Past | Error | undefined {
  const [past, setPast] = useState<Past | Error>();
  useEffect(() => {
    setPast(undefined);
    if (at === undefined) return;
    const over = new AbortController();
    const url = new URL(`api/v1/snapshot?group=${group}&at=${encodeURIComponent(at)}`, server.value);
    fetchPast(fetchWithKey(url, key.value, over.signal), at).then(setPast, (error: unknown) => {
      if (!over.signal.aborted) setPast(error instanceof Error ? error : new Error(String(error)));
    });
    return () => over.abort();
  }, [key.value, group, at]);
  return past;
}

async function fetchPast(responding: Promise<Response>, at: string): Promise<Past> {
  const response = await responding;
  if (response.status === 410) throw new Error(NOT_STORED);
  const body = (await response.json()) as FlareLists & {
    readonly observed_at: string;
    readonly detail?: string;
  };
  if (!response.ok) throw new Error(body.detail ?? `the server returned ${response.status}`);
  return { at, view: body, observedAt: body.observed_at };
}
