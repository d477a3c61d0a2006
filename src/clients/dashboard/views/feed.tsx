import { Component } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { withWholeUnits } from "../../../base/lib/text/percent.ts";
import { DAY_MS } from "../../../base/lib/time/time.ts";
import { foldAddress } from "../../../base/model/groups.ts";
import type { Flare, FlareRecord, Token } from "../../../base/model/index.ts";
import { shortAddress } from "../../../base/model/token-key.ts";
import type { EventMessage } from "../../sdk/index.ts";
import { CodeSample } from "../parts/bot/code-sample.tsx";
import { Sheet } from "../parts/bot/sheet.tsx";
import { Gliding } from "../parts/flare/gliding.tsx";
import { TimeText } from "../parts/time-text.tsx";
import { UntrustedText } from "../parts/untrusted-text.tsx";
import { feedHash, flarePageHref, tokenHash } from "../route.ts";
import { fetchNews, hasPro, MAX_NEWS, newsKey, newsOf } from "../state/feed/news.ts";
import { type PastNews, pastNewsOf } from "../state/feed/past-news.ts";
import type { NamedEvent, Seen } from "../state/seen.ts";
import { isAnonymous, nowS } from "../state/store.ts";
import { fetchOlderFlares } from "../state/timeline/older-flares.ts";
import type { Go } from "../state/use-route.ts";
import { describeEvent, feedText } from "../text/describe-event.ts";
import { eventToken, namesakesOf } from "../text/event-token.ts";

type Line = NamedEvent | PastNews;

interface Shown {
  readonly events: readonly Line[];
  readonly count: number;
}

/** A visitor who has scrolled at least this far is reading older events. */
const READS_FROM_PX = 80;

export interface FeedViewProps {
  /**
   * Whether the feed has every change since the page was opened, instead of starts, ends and
   * listings.
   */
  readonly hasUpdates: boolean;
  readonly go: Go;
  readonly seen: Seen;
  readonly server: URL;
  readonly apiKey: string | undefined;
}

/**
 * Starts and ends of flares in the last day, with listings, or on request every change since the
 * page was opened.
 */
export function FeedView({ hasUpdates, go, seen, server, apiKey }: FeedViewProps) {
  const news = useNews(seen, server, apiKey);
  const shown = hasUpdates
    ? { events: seen.events, count: seen.changes }
    : { events: news ?? [], count: news?.length ?? 0 };
  return (
    <Feed
      // Remounts for the other list, so that no events wait from the previous one.
      key={`${hasUpdates}`}
      hasUpdates={hasUpdates}
      onUpdates={(wanted) => go(feedHash(wanted), "push")}
      events={shown.events}
      count={shown.count}
      isLoading={!hasUpdates && news === undefined}
    />
  );
}

/**
 * Returns the latest news, each once. First come events of the page and the server's log, newest
 * first. Then come other starts and ends of the last 24 hours, from the history and the lists.
 * `undefined` until both requests have ended. A request that fails adds nothing.
 */
function useNews({ news, view }: Seen, server: URL, apiKey: string | undefined): readonly Line[] | undefined {
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
    fetchNews(server, apiKey, signal).then(setLogged, setNone(setLogged));
    fetchOlderFlares(server, apiKey, day, signal).then(setRecords, setNone(setRecords));
    return () => over.abort();
  }, [server.href, apiKey]);
  const seesPro = hasPro(view);
  const all = useMemo(() => {
    if (logged === undefined || records === undefined) return undefined;
    const events = newsOf([...news.map(({ event }) => event), ...logged], seesPro);
    const past = pastNewsOf(records, view, new Set(events.map(newsKey)));
    return [...events.map((event) => ({ event, token: eventToken(event, view) })), ...past].slice(
      0,
      MAX_NEWS,
    );
  }, [news, logged, records, seesPro]);
  return all;
}

interface FeedProps extends Shown {
  readonly hasUpdates: boolean;
  /** Whether the stored events have not arrived yet. */
  readonly isLoading: boolean;
  readonly onUpdates: (wanted: boolean) => void;
}

/** Events, newest first. Lines stand still while the visitor reads; new ones wait. */
function Feed({ events, count, hasUpdates, isLoading, onUpdates }: FeedProps) {
  const [isHovered, setHovered] = useState(false);
  const [isFocused, setFocused] = useState(false);
  const [isStill] = useState(() => matchMedia("(prefers-reduced-motion: reduce)").matches);
  const isScrolled = useScrolled();
  const [, showNewer] = useState(0);
  const shownLast = useRef<Shown>(undefined);
  const latest = { events, count };
  // Read `scrollY` too, because the scroll event comes a frame late.
  const isReading = isHovered || isFocused || isStill || isScrolled || scrollY > READS_FROM_PX;
  // Stored events arrive late, but do not disturb a visitor who has seen none yet.
  const held = isReading && shownLast.current?.count !== 0 ? shownLast.current : undefined;
  const shown = held ?? latest;
  shownLast.current = shown;
  const waiting = shown === latest ? 0 : hasUpdates ? count - shown.count : countNew(events, shown.events);
  const namesakes = useMemo(() => namesakesOf(shown.events.map(tokenOfLine)), [shown.events]);
  const [raw, setRaw] = useState<EventMessage>();
  const release = () => {
    shownLast.current = latest;
    scrollTo(0, 0);
    showNewer(count);
  };
  return (
    <section class="feed" aria-labelledby="feed-title">
      <div class="feed-head">
        <h2 id="feed-title">Feed</h2>
        <button type="button" class="newer" hidden={waiting === 0} onClick={release}>
          <span>Show </span>
          {waiting} new
        </button>
        <label class="choice">
          <input
            type="checkbox"
            checked={hasUpdates}
            onChange={(event) => onUpdates(event.currentTarget.checked)}
          />
          <span>Every update</span>
        </label>
      </div>
      <p>
        {isLoading ? "Loading…" : feedText({ hasUpdates, count, lines: hasUpdates ? events : shown.events })}
      </p>
      <Gliding
        as="ol"
        class={hasUpdates ? "events" : "events news"}
        order={hasUpdates ? "" : shown.events.map(lineKey).join()}
        reversed
        hidden={shown.count === 0}
        onPointerEnter={() => setHovered(true)}
        onPointerLeave={() => setHovered(false)}
        onFocusIn={() => setFocused(true)}
        onFocusOut={() => setFocused(false)}
      >
        {shown.events.map((line, index) => (
          <EventLine
            key={hasUpdates ? index : lineKey(line)}
            line={line}
            hasNamesake={namesakes.has(foldAddress(tokenOfLine(line)?.address ?? ""))}
            onRaw={setRaw}
          />
        ))}
      </Gliding>
      {raw && (
        <Sheet title={raw.name} onClose={() => setRaw(undefined)}>
          <CodeSample text={JSON.stringify(raw, undefined, 2)} note="As a bot receives it." />
        </Sheet>
      )}
    </section>
  );
}

/** Counts the lines that are not among those shown, because a full list does not grow. */
function countNew(lines: readonly Line[], shown: readonly Line[]): number {
  const known = new Set(shown.map(lineKey));
  return lines.filter((line) => !known.has(lineKey(line))).length;
}

/** Identifies a line of news. In the list of every update, the position identifies a line. */
function lineKey(line: Line): string | undefined {
  return "event" in line ? newsKey(line.event) : `${line.name} ${line.flare.id}`;
}

function tokenOfLine(line: Line): Token | undefined {
  return "event" in line ? line.token : line.flare.token;
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

interface ShownLine {
  readonly name: string;
  readonly at: string;
  readonly channel: string;
  readonly words: string;
  readonly isByCanary: boolean;
  /** The flare or token to link to; `undefined` if unknown. */
  readonly target: Flare | Token | undefined;
  readonly event: EventMessage | undefined;
}

function shownLine(line: Line): ShownLine {
  if (!("event" in line)) return { ...line, channel: "", target: line.flare, event: undefined };
  const { event, token } = line;
  return {
    name: event.name,
    at: event.observed_at,
    channel: event.channel,
    event,
    words: describeEvent(event),
    isByCanary: event.name === "flare-finished" && event.data.cause === "canary",
    target: token && "flare" in event.data ? { ...event.data.flare, token } : token,
  };
}

/** Links to a finished flare's page if the visitor has no key, otherwise to the token's. */
function LineLink({ to }: { readonly to: Flare | Token }) {
  const isFlare = "token" in to;
  return (
    <a href={isFlare ? flarePageHref(to, isAnonymous.value) : tokenHash("bsc", to.address)}>
      <UntrustedText text={isFlare ? to.token.symbol : to.symbol} />
    </a>
  );
}

interface EventLineProps {
  readonly line: Line;
  /** Whether another token in the list has the same symbol, so that the address is shown. */
  readonly hasNamesake: boolean;
  /** Shows the event as JSON. A line does not rerender for another function. */
  readonly onRaw: (event: EventMessage) => void;
}

/** One event. Lines of updates have the same height, so that none pushes the others. */
class EventLine extends Component<EventLineProps> {
  override shouldComponentUpdate({ line, hasNamesake }: EventLineProps): boolean {
    return line !== this.props.line || hasNamesake !== this.props.hasNamesake;
  }

  override render({ line, hasNamesake, onRaw }: EventLineProps) {
    const address = hasNamesake ? tokenOfLine(line)?.address : undefined;
    const { name, at, channel, words, isByCanary, target, event } = shownLine(line);
    return (
      <li data-seq={event?.seq} class={`${name} ${isByCanary ? "by-canary" : ""}`}>
        {event ? (
          <button type="button" class="plain" title="Show as JSON" onClick={() => onRaw(event)}>
            <TimeText at={at} />
          </button>
        ) : (
          <TimeText at={at} />
        )}
        <code>{name}</code>
        <small>{channel}</small>
        {target === undefined ? <span class="untrusted" /> : <LineLink to={target} />}
        <span class="words" title={words}>
          {address !== undefined && (
            <>
              <span class="address soft" title={address}>
                {shortAddress(address)}
              </span>{" "}
            </>
          )}
          {withWholeUnits(words)}
        </span>
      </li>
    );
  }
}
