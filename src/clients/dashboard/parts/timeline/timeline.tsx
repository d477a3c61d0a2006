import { useContext, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { cssShare } from "../../../../base/lib/text/percent.ts";
import { HOUR_MS } from "../../../../base/lib/time/time.ts";
import type { GroupName } from "../../../../base/model/groups.ts";
import type { FlareRecord } from "../../../../base/model/index.ts";
import { END_TEXTS } from "../../../../base/model/text/end-texts.ts";
import { flaresHash } from "../../route.ts";
import { DEFAULT_QUERY } from "../../state/flare-query.ts";
import { type FlareLists, FULL_FINISHED } from "../../state/group/flare-lists.ts";
import { type Bar, barsOf, countFates, haveSameFlares, withEarlier } from "../../state/timeline/bars.ts";
import {
  assignLanes,
  boxOf,
  hoursWithin,
  knownSpan,
  laneCount,
  spanUntil,
  type TimeSpan,
  visibleBars,
  WINDOWS,
  type WindowName,
} from "../../state/timeline/lanes.ts";
import { fetchOlderFlares } from "../../state/timeline/older-flares.ts";
import { formatMinute } from "../../text/format.ts";
import { NowS } from "../flare/age.tsx";
import { IsAnonymous } from "../market.ts";
import { onDemand } from "../on-demand.tsx";
import { Segments } from "../segments.tsx";
import { Bars, type PlacedBar } from "./bars.tsx";
import { Scrubber } from "./scrubber.tsx";
import { TimelineCard } from "./timeline-card.tsx";
import type { TimelineTableProps } from "./timeline-table.tsx";

const TimelineTable = onDemand<TimelineTableProps>(
  async () => (await import("./timeline-table.tsx")).TimelineTable,
);

interface TimelineProps {
  readonly group: GroupName;
  readonly view: FlareLists;
  readonly server: URL;
  readonly apiKey: string | undefined;
  readonly window: WindowName;
  /** A past minute to mark. */
  readonly at: string | undefined;
  readonly onWindow: (window: WindowName) => void;
  readonly onAt: (at: string | undefined, how: "push" | "replace") => void;
}

const FATE_LABELS = {
  flaring: "flaring now",
  faded: "other ends",
  canary: END_TEXTS.canary,
} as const;

/** The flares of the last hours, one bar each, colored by how they ended. */
export function Timeline({ group, view, server, apiKey, window, at, ...on }: TimelineProps) {
  const nowMs = useContext(NowS) * 1_000;
  const { toMs } = spanUntil(nowMs, window);
  const all = useBars(view, useOlderFlares(group, view, server, apiKey, window));
  const atMs = at === undefined ? undefined : Date.parse(at);
  const span = useMemo(
    () => knownSpan(all, { fromMs: toMs - WINDOWS[window], toMs }, atMs),
    [all, toMs, window, atMs],
  );
  const bars = useMemo(() => visibleBars(all, span), [all, span]);
  const [placed, lanes] = usePlaced(bars, span, window);
  const [shown, card] = useCard();
  const [isTable, setTable] = useState(false);
  const isAnonymous = useContext(IsAnonymous);
  const counts = useMemo(() => countFates(bars), [bars]);
  // On a young server, six and 24 hours look alike.
  const isShort = span.toMs - span.fromMs < WINDOWS[window];
  // Up to the second, as in the list of finished flares: the end of the span is rounded up.
  const recentRugs = bars.filter(
    ({ fate, endMs }) => fate === "canary" && endMs !== undefined && endMs > nowMs - HOUR_MS,
  ).length;
  const pointed = placed.find(({ bar }) => bar.flare.id === shown);
  // The linked list says when and how each flare ended.
  const finished = (cause?: "canary") =>
    flaresHash({ ...DEFAULT_QUERY, group, channel: "flares.finished", cause, window });
  return (
    <section class="timeline" aria-labelledby="timeline-title">
      <div class="timeline-head">
        <h2 id="timeline-title">{titleOf(span, window)}</h2>
        <p class="fates">
          {(["flaring", "canary", "faded"] as const).map((fate) => (
            <span key={fate} class={`fate ${fate}`}>
              <b>{counts[fate]}</b>{" "}
              {fate === "flaring" ? (
                FATE_LABELS[fate]
              ) : (
                <a href={finished(fate === "canary" ? fate : undefined)}>
                  {FATE_LABELS[fate]}
                  {fate === "canary" && counts[fate] !== 1 && "s"}
                </a>
              )}
              {fate === "canary" && span.fromMs < toMs - HOUR_MS && `, ${recentRugs} in the last hour`}
            </span>
          ))}
          {isShort && <span>none known before {formatMinute(span.fromMs)}</span>}
        </p>
        <button type="button" class="plain" aria-expanded={isTable} onClick={() => setTable(!isTable)}>
          Table
        </button>
        <Segments
          legend="Time shown"
          name="window"
          options={["6h", "24h"]}
          chosen={window}
          onChoose={on.onWindow}
        />
      </div>
      <div class={`lanes ${lanes > 56 ? "packed" : lanes > 20 ? "dense" : ""}`}>
        <Hours span={span} />
        {atMs !== undefined && atMs >= span.fromMs && (
          <span class="then" style={{ left: cssShare((atMs - span.fromMs) / (span.toMs - span.fromMs)) }} />
        )}
        <Bars placed={placed} lanes={lanes} isAnonymous={isAnonymous} onShow={card.show} />
        {pointed && <TimelineCard placed={pointed} view={view} {...card} />}
        {bars.length === 0 && <p class="none">No flare in this time. New ones appear here.</p>}
      </div>
      <Scrubber
        group={group}
        span={span}
        window={window}
        at={at}
        server={server}
        apiKey={apiKey}
        onAt={on.onAt}
      />
      {isTable && <TimelineTable bars={bars} />}
    </section>
  );
}

function titleOf({ fromMs, toMs }: TimeSpan, window: WindowName): string {
  if (toMs - fromMs < WINDOWS[window]) return `Since ${formatMinute(fromMs)}`;
  return window === "6h" ? "The last six hours" : "The last 24 hours";
}

function Hours({ span: { fromMs, toMs } }: { readonly span: TimeSpan }) {
  return (
    <div class="hours" aria-hidden="true">
      {hoursWithin({ fromMs, toMs }).map((atMs) => {
        const share = (atMs - fromMs) / (toMs - fromMs);
        return (
          <span key={atMs} style={{ left: cssShare(share) }}>
            <small>{formatMinute(atMs)}</small>
          </span>
        );
      })}
      <small class="zone">UTC</small>
    </div>
  );
}

/** A card stays this long after the pointer has left its bar. */
const LEAVE_MS = 300;
/** A bar's card appears once the pointer has rested on the bar for this long. */
const REST_MS = 100;

/**
 * Returns the id of the flare whose card is shown, and the functions that show, keep and hide it.
 * The pointer can reach the card across other bars, and Escape hides it (WCAG 1.4.13).
 */
function useCard() {
  const [shown, setShown] = useState<string>();
  const timer = useRef(0);
  const card = useMemo(() => {
    const keep = () => clearTimeout(timer.current);
    const hide = () => {
      keep();
      setShown(undefined);
    };
    const later = (id: string | undefined, waitMs: number) => {
      keep();
      timer.current = setTimeout(() => setShown(id), waitMs);
    };
    const leave = () => later(undefined, LEAVE_MS);
    const show = (id: string | undefined, how: "pointer" | "focus") => {
      if (id === undefined) return leave();
      later(id, how === "focus" ? 0 : REST_MS);
    };
    return { show, hide, keep, leave };
  }, []);
  const isShown = shown !== undefined;
  useEffect(() => {
    if (!isShown) return;
    const onKey = ({ key }: KeyboardEvent) => {
      if (key === "Escape") card.hide();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [isShown, card]);
  return [shown, card] as const;
}

/** Returns the same bars until a flare starts or ends or older flares arrive. */
function useBars(view: FlareLists, older: readonly FlareRecord[]): readonly Bar[] {
  const last = useRef<{ readonly view: FlareLists; readonly older: unknown; readonly bars: readonly Bar[] }>(
    undefined,
  );
  const before = last.current;
  if (before?.older === older && haveSameFlares(before.view, view)) return before.bars;
  const bars = withEarlier(barsOf(view, older), before?.bars ?? []);
  last.current = { view, older, bars };
  return bars;
}

/** Returns the bars with their positions. Each keeps its lane until the window changes. */
function usePlaced(bars: readonly Bar[], span: TimeSpan, window: WindowName) {
  const lanesOf = useRef<{ readonly window: WindowName; readonly lanes: ReadonlyMap<string, number> }>(
    undefined,
  );
  return useMemo((): readonly [readonly PlacedBar[], number] => {
    const before = lanesOf.current?.window === window ? lanesOf.current.lanes : undefined;
    const assigned = assignLanes(bars, span, before);
    lanesOf.current = { window, lanes: assigned };
    const lanes = laneCount(assigned);
    const placed = bars.map((bar) => ({
      bar,
      box: boxOf(bar, assigned.get(bar.flare.id) ?? 0, span, lanes),
    }));
    return [placed, lanes];
  }, [bars, span]);
}

/**
 * Returns the window's finished flares that are no longer listed, from the history; none before its
 * response. A failed request changes nothing.
 */
function useOlderFlares(
  group: GroupName,
  view: FlareLists,
  server: URL,
  key: string | undefined,
  window: WindowName,
) {
  const [older, setOlder] = useState<readonly FlareRecord[]>([]);
  const listed = view.flares?.finished_trending ?? [];
  const oldest = listed.length < FULL_FINISHED ? undefined : oldestFinish(listed);
  const nowMs = useContext(NowS) * 1_000;
  const fromMs = nowMs - WINDOWS[window];
  const isNeeded = oldest !== undefined && Date.parse(oldest) > fromMs;
  useEffect(() => {
    if (!isNeeded || oldest === undefined) return;
    const over = new AbortController();
    fetchOlderFlares(server, key, { group, fromMs, to: oldest }, over.signal).then(setOlder, () => {});
    return () => over.abort();
  }, [server.href, key, group, window, isNeeded]);
  return older;
}

function oldestFinish(listed: readonly { readonly finished_trending_at: string | null }[]) {
  return listed.reduce<string | undefined>((oldest, { finished_trending_at: at }) => {
    return at !== null && (oldest === undefined || at < oldest) ? at : oldest;
  }, undefined);
}
