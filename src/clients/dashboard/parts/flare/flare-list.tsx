import { Fragment } from "preact";
import { useContext, useEffect } from "preact/hooks";
import { HOUR_MS } from "../../../../base/lib/time/time.ts";
import { foldAddress } from "../../../../base/model/groups.ts";
import type { AnyFlare } from "../../../../base/model/index.ts";
import { tokenOf } from "../../../../base/model/key-of.ts";
import { flaresHash } from "../../route.ts";
import { useAlerts } from "../../state/alerts/page-alerts.ts";
import { useCandles } from "../../state/candles/use-candles.ts";
import { type FlareChannel, type FlareQuery, LIST_OF_CHANNEL } from "../../state/flare-query.ts";
import { type FlareLists, FULL_FINISHED } from "../../state/group/flare-lists.ts";
import { causeOf, sortFlares, wantedFlares, withoutFilters } from "../../state/select-flares.ts";
import { useWatched } from "../../state/visitor/use-watched.ts";
import { Causes, FlareControls } from "../flare-controls.tsx";
import { UntrustedText } from "../untrusted-text.tsx";
import { Ago, NowS } from "./age.tsx";
import { FinishedRow, FlareRow } from "./flare-row.tsx";
import { Gliding } from "./gliding.tsx";
import { WhyLegend } from "./why-bars.tsx";

const NONE = {
  "flares.pro": "No flares right now. New ones appear here.",
  "flares.free": "No flare is at least 5 minutes old and without a warning. New ones appear here.",
  "flares.finished": "No flare finished within the last 24 hours.",
} as const satisfies Record<FlareChannel, string>;

const COLUMNS = ["Token", "Last hour", "Since start", "5 min (before)", "Buys / sells", "Liquidity", "Age"];
/** Other groups have no candles, so prices of the last hour and at the start are unknown. */
const OTHER_COLUMNS = ["Token", "Price", ...COLUMNS.slice(3)];
const FINISHED_COLUMNS = ["Token", "Course", "Peak", "End", "After 5 min", "15 min", "60 min"];
/** Classes of columns that are hidden on small screens, or if the source lacks their fact. */
const CLASSES: Readonly<Record<string, string>> = {
  "Last hour": "hour",
  "Buys / sells": "of-trades",
  Liquidity: "of-liquidity",
};

/** How many flares of the last hour are named. */
const MAX_NAMED = 8;

interface FlareListProps {
  readonly query: FlareQuery;
  readonly channels: readonly FlareChannel[];
  readonly onQuery: (query: FlareQuery, how: "push" | "replace") => void;
  readonly view: FlareLists;
  readonly server: URL;
  readonly apiKey: string | undefined;
}

/** The flares of the chosen list, with controls to choose, filter and sort them. */
export function FlareList({ query, channels, onQuery, view, server, apiKey }: FlareListProps) {
  const { channel } = query;
  const all = view.flares?.[LIST_OF_CHANNEL[channel]] ?? [];
  const shown = sortFlares(
    wantedFlares(all, view.explanations, query),
    view.explanations,
    query.order,
    view.outcomes,
  );
  const unfiltered = { ...withoutFilters(query), cause: query.cause };
  const ofChoice = wantedFlares(all, view.explanations, unfiltered);
  const named = ofChoice.length;
  const priced = query.group === "bsc" ? (view.flares?.pro ?? view.flares?.free ?? []) : [];
  const candles = useCandles(server, apiKey, priced, query.at);
  const watched = useWatched(query.group);
  const { alerts } = useAlerts();
  useEffect(() => alerts?.watchListChanged(), [alerts, watched.tokens]);
  const isFinished = channel === "flares.finished";
  const running = query.group === "bsc" ? COLUMNS : OTHER_COLUMNS;
  const columns = isFinished ? FINISHED_COLUMNS : running;
  return (
    <>
      <FlareControls
        query={query}
        channels={channels}
        view={view}
        watched={watched.tokens}
        onQuery={onQuery}
      />
      {isFinished ? (
        <div class="finished-head">
          <Causes query={query} flares={all} explanations={view.explanations} onQuery={onQuery} />
          <CourseLegend />
          <LastHour flares={ofChoice} of={all.length} cause={query.cause} />
        </div>
      ) : (
        <WhyLegend of={shown.map(({ id }) => view.explanations[id])} />
      )}
      {shown.length > 0 && shown.length < named && (
        <p class="legend">
          {hiddenText(named - shown.length, causeOf(query))}{" "}
          <button type="button" onClick={() => onQuery(unfiltered, "push")}>
            Show all
          </button>
        </p>
      )}
      {shown.length === 0 ? (
        <p class="empty">
          {all.length === 0
            ? query.at === undefined
              ? NONE[channel]
              : "None at this time."
            : `${noneText(named || all.length)} `}
          {all.length > 0 && (
            <button
              type="button"
              onClick={() => onQuery(named > 0 ? unfiltered : withoutFilters(query), "push")}
            >
              Show all
            </button>
          )}
          {all.length === 0 && query.at === undefined && <LastEnd query={query} view={view} />}
        </p>
      ) : (
        <table class={isFinished ? "rows flares finished" : "rows flares"}>
          <thead>
            <tr>
              {columns.map((title) => (
                <th key={title} scope="col" class={CLASSES[title]}>
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <Gliding as="tbody" order={shown.map(({ id }) => id).join()}>
            {shown.map((flare) => {
              const address = tokenOf(flare);
              const row = {
                flare,
                why: view.explanations[flare.id],
                onWatch: watched.toggle,
                isWatched: watched.tokens.has(foldAddress(address)),
              };
              return isFinished ? (
                <FinishedRow key={flare.id} {...row} outcome={view.outcomes?.[flare.id]} />
              ) : (
                <FlareRow
                  key={flare.id}
                  {...row}
                  candles={candles.byAddress.get(address)}
                  closedMs={candles.closedMs}
                />
              );
            })}
          </Gliding>
        </table>
      )}
      {isFinished && all.length >= FULL_FINISHED && (
        <p class="legend">
          Flares that ended longer ago are in the timeline, and in its table for up to 24 hours.
        </p>
      )}
    </>
  );
}

/** States that filters hide every listed flare. */
function noneText(listed: number): string {
  return listed === 1
    ? "The only flare does not match your filters."
    : `None of the ${listed} flares match your filters.`;
}

/** Counts the flares that only filters hide. If a cause is chosen, counts only its flares. */
function hiddenText(hidden: number, cause: FlareQuery["cause"]): string {
  const flares = hidden === 1 ? "flare" : "flares";
  return `Your filters hide ${hidden} ${flares}${cause ? " with this end" : ""}.`;
}

function CourseLegend() {
  return (
    <div class="legend" aria-hidden="true">
      <span>▲ start</span>
      <span>● peak</span>
      <span>■ end</span>
      <span>changes since the start</span>
    </div>
  );
}

interface LastHourProps {
  readonly flares: readonly AnyFlare[];
  /** How many finished flares the server lists. */
  readonly of: number;
  readonly cause: FlareQuery["cause"];
}

/**
 * Names the flares that ended within the last hour, newest first, whatever the filters. If the list
 * is full, adds its length, because the timeline may count more.
 */
function LastHour({ flares, of, cause }: LastHourProps) {
  const fromMs = useContext(NowS) * 1_000 - HOUR_MS;
  const ended = flares.filter((flare) => Date.parse(`${flare.finished_trending_at}`) > fromMs);
  const recent = sortFlares(ended, {}, "newest");
  const noun = `${cause === "canary" ? "possible rug" : "flare"}${recent.length === 1 ? "" : "s"}`;
  const verb = cause === "canary" ? "" : cause === undefined ? " ended" : " ended this way";
  const more = recent.length - MAX_NAMED;
  return (
    <p class="last-hour">
      <b>{`${recent.length} ${noun}${verb} in the last hour`}</b>
      {recent.slice(0, MAX_NAMED).map(({ id, token }, at) => (
        <Fragment key={id}>
          {at === 0 ? ": " : ", "}
          <UntrustedText text={token.symbol} />
        </Fragment>
      ))}
      {more > 0 && ` and ${more} more`}
      {of < FULL_FINISHED ? "" : ` (of the last ${of} flares to end)`}
    </p>
  );
}

/** Links an empty list to the finished flares, with the age of the newest one. */
function LastEnd({ query, view }: Pick<FlareListProps, "query" | "view">) {
  const ends =
    view.flares?.finished_trending?.map((flare) => Date.parse(`${flare.finished_trending_at}`)) ?? [];
  if (ends.length === 0) return null;
  return (
    <>
      {" The last one ended "}
      <a href={flaresHash({ ...query, channel: "flares.finished" })}>
        <Ago atMs={Math.max(...ends)} />
      </a>
      .
    </>
  );
}
