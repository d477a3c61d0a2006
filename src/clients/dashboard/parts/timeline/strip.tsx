import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { cssShare } from "../../../../base/lib/text/percent.ts";
import type { GroupName } from "../../../../base/model/groups.ts";
import type { FlareLists } from "../../state/group/flare-lists.ts";
import { isAnonymous, useNow } from "../../state/store.ts";
import type { Bar } from "../../state/timeline/bars.ts";
import {
  assignLanes,
  boxOf,
  hoursWithin,
  knownSpan,
  laneCount,
  spanUntil,
  type TimeSpan,
  visibleBars,
  WINDOW_MS,
} from "../../state/timeline/lanes.ts";
import { formatTime } from "../../text/format.ts";
import { onDemand } from "../on-demand.tsx";
import { Bars, type PlacedBar } from "./bars.tsx";
import { Scrubber } from "./scrubber.tsx";

const TimelineCard = onDemand(async () => (await import("./timeline-card.tsx")).TimelineCard);

interface StripProps {
  readonly group: GroupName;
  readonly bars: readonly Bar[];
  readonly view: FlareLists;
  /** A past minute to mark. */
  readonly at: string | undefined;
  readonly onAt: (at: string | undefined, how: "push" | "replace") => void;
}

/** The flares of the last six hours, one bar each, and the choice of a past minute. */
export function Strip({ group, bars: all, view, at, onAt }: StripProps) {
  const toMs = useNow((nowMs) => spanUntil(nowMs).toMs);
  const atMs = at === undefined ? undefined : Date.parse(at);
  const span = useMemo(() => knownSpan(all, { fromMs: toMs - WINDOW_MS, toMs }, atMs), [all, toMs, atMs]);
  const bars = useMemo(() => visibleBars(all, span), [all, span]);
  const [placed, lanes] = usePlaced(bars, span);
  const [shown, card] = useCard();
  const pointed = placed.find(({ bar }) => bar.flare.id === shown);
  return (
    <section class="strip" aria-label="The last six hours">
      <div class={lanes > 20 ? "lanes packed" : "lanes"}>
        <Hours span={span} />
        <Bars placed={placed} lanes={lanes} isAnonymous={isAnonymous.value} onShow={card.show} />
        {pointed && <TimelineCard placed={pointed} view={view} {...card} />}
        <Scrubber group={group} span={span} at={at} onAt={onAt} />
      </div>
    </section>
  );
}

function Hours({ span: { fromMs, toMs } }: { readonly span: TimeSpan }) {
  return (
    <div class="hours" aria-hidden="true">
      {hoursWithin({ fromMs, toMs }).map((atMs) => (
        <span key={atMs} style={{ left: cssShare((atMs - fromMs) / (toMs - fromMs)) }}>
          <small>{formatTime(atMs)}</small>
        </span>
      ))}
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

/** Returns the bars with their positions. Each keeps its lane. */
function usePlaced(bars: readonly Bar[], span: TimeSpan) {
  const before = useRef<ReadonlyMap<string, number>>(undefined);
  return useMemo((): readonly [readonly PlacedBar[], number] => {
    const assigned = assignLanes(bars, span, before.current);
    before.current = assigned;
    const lanes = laneCount(assigned);
    const placed = bars.map((bar) => ({
      bar,
      box: boxOf(bar, assigned.get(bar.flare.id) ?? 0, span, lanes),
    }));
    return [placed, lanes];
  }, [bars, span]);
}
