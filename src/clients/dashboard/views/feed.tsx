import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { withWholeUnits } from "../../../base/lib/text/percent.ts";
import { DAY_MS } from "../../../base/lib/time/time.ts";
import { foldAddress } from "../../../base/model/groups.ts";
import type { FlareRecord } from "../../../base/model/index.ts";
import type { EventMessage } from "../../sdk/index.ts";
import { CodeSample, Sheet } from "../parts/bot/sheet.tsx";
import { feedColumns, rowOfLine } from "../parts/feed-columns.tsx";
import { Segments } from "../parts/segments.tsx";
import { TokenTable } from "../parts/table/token-table.tsx";
import { feedHash } from "../route.ts";
import { type FeedLine, lineOf, pastLines } from "../state/feed/feed-lines.ts";
import { fetchNews, hasPro, MAX_NEWS, newsOf } from "../state/feed/news.ts";
import type { Seen } from "../state/seen.ts";
import { isAnonymous, key, nowS, server, useNow } from "../state/store.ts";
import { fetchOlderFlares } from "../state/timeline/older-flares.ts";
import { go } from "../state/use-route.ts";
import { eventToken, namesakesOf } from "../text/event-token.ts";
import { formatMoment, zoneName } from "../text/format.ts";
import "../styles/feed.css";

/** A visitor who has scrolled at least this far is reading older events. */
const READS_FROM_PX = 80;

const MODES = { news: "News", updates: "Every update" } as const;

interface FeedViewProps {
  /**
   * Whether the feed has every change since the page was opened, instead of starts, ends and
   * listings.
   */
  readonly hasUpdates: boolean;
  readonly seen: Seen;
}

/**
 * Starts and ends of flares in the last day, with listings, or on request every change since the
 * page was opened.
 */
export function FeedView({ hasUpdates, seen }: FeedViewProps) {
  const news = useNews(seen);
  const updates = useMemo(() => seen.events.map(lineOf), [seen.events]);
  const lines = hasUpdates ? updates : (news ?? []);
  return (
    <Feed
      // Remounts for the other list, so that no events wait from the previous one.
      key={`${hasUpdates}`}
      hasUpdates={hasUpdates}
      onMode={(mode) => go(feedHash(mode === "updates"), "push")}
      lines={lines}
      count={hasUpdates ? seen.changes : lines.length}
      isLoading={!hasUpdates && news === undefined}
    />
  );
}

/**
 * Returns the latest news, each once. First come events of the page and the server's log, newest
 * first. Then come other starts and ends of the last 24 hours, from the history and the lists.
 * `undefined` until both requests have ended. A request that fails adds nothing.
 */
function useNews({ news, view }: Seen): readonly FeedLine[] | undefined {
  const [logged, setLogged] = useState<readonly EventMessage[]>();
  const [records, setRecords] = useState<readonly FlareRecord[]>();
  const nowMs = nowS.peek() * 1_000;
  useEffect(() => {
    const over = new AbortController();
    const { signal } = over;
    const day = { group: "bsc" as const, fromMs: nowMs - DAY_MS, to: new Date(nowMs).toISOString() };
    const setNone = (set: (none: readonly never[]) => void) => () => {
      if (!signal.aborted) set([]);
    };
    fetchNews(server.value, key.value, signal).then(setLogged, setNone(setLogged));
    fetchOlderFlares(server.value, key.value, day, signal).then(setRecords, setNone(setRecords));
    return () => over.abort();
  }, [key.value]);
  const seesPro = hasPro(view);
  return useMemo(() => {
    if (logged === undefined || records === undefined) return undefined;
    const events = newsOf([...news.map(({ event }) => event), ...logged], seesPro);
    const lines = events.map((event) => lineOf({ event, token: eventToken(event, view) }));
    const past = pastLines(records, view, new Set(lines.map(({ key }) => key)));
    return [...lines, ...past].slice(0, MAX_NEWS);
  }, [news, logged, records, seesPro]);
}

interface Shown {
  readonly lines: readonly FeedLine[];
  readonly count: number;
}

interface FeedProps extends Shown {
  readonly hasUpdates: boolean;
  /** Whether the stored events have not arrived yet. */
  readonly isLoading: boolean;
  readonly onMode: (mode: keyof typeof MODES) => void;
}

/** Events, newest first. Lines stand still while the visitor reads; new ones wait. */
function Feed({ lines, count, hasUpdates, isLoading, onMode }: FeedProps) {
  const [isHovered, setHovered] = useState(false);
  const [isFocused, setFocused] = useState(false);
  const [isStill] = useState(() => matchMedia("(prefers-reduced-motion: reduce)").matches);
  const isScrolled = useScrolled();
  const [, showNewer] = useState(0);
  const shownLast = useRef<Shown>(undefined);
  const latest = { lines, count };
  // Read `scrollY` too, because the scroll event comes a frame late.
  const isReading = isHovered || isFocused || isStill || isScrolled || scrollY > READS_FROM_PX;
  // Stored events arrive late, but do not disturb a visitor who has seen none yet.
  const held = isReading && shownLast.current?.count !== 0 ? shownLast.current : undefined;
  const shown = held ?? latest;
  shownLast.current = shown;
  const waiting = shown === latest ? 0 : hasUpdates ? count - shown.count : countNew(lines, shown.lines);
  const [raw, setRaw] = useState<EventMessage>();
  const hasNoKey = isAnonymous.value;
  const today = useNow((nowMs) => formatMoment(nowMs).slice(0, 10));
  const rows = useMemo(() => {
    const namesakes = namesakesOf(shown.lines.map(({ token }) => token));
    return shown.lines.map((line, at) => {
      // In the list of every update, the position identifies a row, so that none glides.
      const key = hasUpdates ? `${at}` : (line.key ?? "");
      const isTwin = namesakes.has(foldAddress(line.token?.address ?? ""));
      return { ...rowOfLine(line, hasNoKey), key, isTwin, today };
    });
  }, [shown.lines, hasNoKey, today]);
  const columns = useMemo(() => feedColumns(hasUpdates, setRaw), [hasUpdates]);
  const release = () => {
    shownLast.current = latest;
    scrollTo(0, 0);
    showNewer(count);
  };
  return (
    <section class="feed" aria-labelledby="feed-title">
      <div class="feed-head">
        <h2 id="feed-title">Feed</h2>
        {waiting > 0 && (
          <button type="button" class="newer primary" onClick={release}>
            Show {waiting} new
          </button>
        )}
        <Segments
          legend="Events"
          name="feed-mode"
          options={["news", "updates"] as const}
          chosen={hasUpdates ? "updates" : "news"}
          onChoose={onMode}
          label={(mode) => MODES[mode]}
        />
      </div>
      <p>{isLoading ? "Loading…" : withWholeUnits(introOf(hasUpdates, count, lines.length))}</p>
      <div
        hidden={shown.count === 0}
        onPointerEnter={() => setHovered(true)}
        onPointerLeave={() => setHovered(false)}
        onFocusIn={() => setFocused(true)}
        onFocusOut={() => setFocused(false)}
      >
        <TokenTable kind={hasUpdates ? "events updates" : "events"} columns={columns} rows={rows} />
      </div>
      {raw && (
        <Sheet title={raw.name} onClose={() => setRaw(undefined)}>
          <CodeSample text={JSON.stringify(raw, undefined, 2)} note="As a bot receives it." />
        </Sheet>
      )}
    </section>
  );
}

function introOf(hasUpdates: boolean, count: number, lines: number): string {
  if (hasUpdates) {
    if (count === 0) return "None since this page was opened. The next one appears here.";
    const older = count > lines ? `; the newest ${lines} are below` : "";
    return `${count} since this page was opened${older}. Flares and listings: BSC. Times: ${zoneName()}.`;
  }
  if (count === 0)
    return "No flare or new token on BSC is known from the last 24 hours. The next one appears here.";
  return `Flares and new tokens on BSC in the last 24 hours, in ${zoneName()}. Click a time for its event as JSON.`;
}

/** Counts the lines that are not among those shown, because a full list does not grow. */
function countNew(lines: readonly FeedLine[], shown: readonly FeedLine[]): number {
  const known = new Set(shown.map(({ key }) => key));
  return lines.filter(({ key }) => !known.has(key)).length;
}

function useScrolled(): boolean {
  const [isScrolled, setScrolled] = useState(false);
  useEffect(() => {
    const look = () => setScrolled(scrollY > READS_FROM_PX);
    addEventListener("scroll", look, { passive: true });
    return () => removeEventListener("scroll", look);
  }, []);
  return isScrolled;
}
