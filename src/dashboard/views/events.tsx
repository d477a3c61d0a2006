import { Component } from "preact";
import { useContext, useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { EventMessage } from "../../client/index.ts";
import type { Token } from "../../model/index.ts";
import type { EventSheetProps } from "../parts/bot/event-sheet.tsx";
import { IsAnonymous } from "../parts/market.ts";
import { TimeText } from "../parts/time-text.tsx";
import { UntrustedText } from "../parts/untrusted-text.tsx";
import { eventsHash, flarePageHref, flaresHash, tokenHash } from "../route.ts";
import { fetchNews, MAX_NEWS, newsOf } from "../state/feed/news.ts";
import { DEFAULT_QUERY } from "../state/flare-query.ts";
import type { NamedEvent, Seen } from "../state/seen.ts";
import type { Go } from "../state/use-route.ts";
import { describeEvent } from "../text/describe-event.ts";
import { tokenOf } from "../text/event-token.ts";
import { onDemand } from "./on-demand.tsx";

const EventSheet = onDemand<EventSheetProps>(
  async () => (await import("../parts/bot/event-sheet.tsx")).EventSheet,
);

const FINISHED = flaresHash({ ...DEFAULT_QUERY, channel: "flares.finished" });

interface Shown {
  readonly events: readonly NamedEvent[];
  readonly count: number;
}

/** Scrolled at least this far, the visitor is reading older events. */
const READS_FROM_PX = 80;

interface EventsViewProps {
  /** Whether every event is shown, instead of starts, finishes and listings. */
  readonly hasUpdates: boolean;
  readonly go: Go;
  readonly seen: Seen;
  readonly server: URL;
  readonly apiKey: string | undefined;
}

/** What began and ended in the last day or, on request, every event since the page was opened. */
export function EventsView({ hasUpdates, go, seen, server, apiKey }: EventsViewProps) {
  const [news, isComplete] = useNews(seen, server, apiKey);
  return (
    <Feed
      // Another list, not more of the same: nothing waits.
      key={`${hasUpdates}`}
      hasUpdates={hasUpdates}
      hasEnded={(seen.view?.flares?.finished_trending?.length ?? 0) > 0}
      onUpdates={(wanted) => go(eventsHash(wanted), "push")}
      {...(hasUpdates ? { events: seen.events, count: seen.count } : { events: news, count: news.length })}
      isLoading={!hasUpdates && !isComplete && news.length === 0}
    />
  );
}

/** Returns all news, each once, newest first, and whether the stored ones are among them. */
function useNews(
  { news, view }: Seen,
  server: URL,
  apiKey: string | undefined,
): readonly [news: readonly NamedEvent[], isComplete: boolean] {
  const [stored, setStored] = useState<readonly EventMessage[]>();
  useEffect(() => {
    const over = new AbortController();
    fetchNews(server, apiKey, over.signal).then(setStored, () => {
      if (!over.signal.aborted) setStored([]);
    });
    return () => over.abort();
  }, [server.href, apiKey]);
  const all = useMemo(
    () =>
      newsOf([...news.map(({ event }) => event), ...(stored ?? [])])
        .slice(0, MAX_NEWS)
        .map((event) => ({ event, token: tokenOf(event, view) })),
    [news, stored],
  );
  return [all, stored !== undefined];
}

interface FeedProps extends Shown {
  readonly hasUpdates: boolean;
  /** Whether the stored events are not there yet. */
  readonly isLoading: boolean;
  /** Whether flares are listed as finished. They may have ended before the log began. */
  readonly hasEnded: boolean;
  readonly onUpdates: (wanted: boolean) => void;
}

/** Events, newest first. Lines stand still while the visitor reads; new ones wait. */
function Feed({ events, count, hasUpdates, isLoading, hasEnded, onUpdates }: FeedProps) {
  const [isOver, setOver] = useState(false);
  const [isFocused, setFocused] = useState(false);
  const [isStill] = useState(() => matchMedia("(prefers-reduced-motion: reduce)").matches);
  const isScrolled = useScrolled();
  const [, showNewer] = useState(0);
  const shownLast = useRef<Shown>(undefined);
  const latest = { events, count };
  // The scroll event comes a frame late: events that arrive before it look for themselves.
  const isReading = isOver || isFocused || isStill || isScrolled || scrollY > READS_FROM_PX;
  // What the server had stored arrives late, and is no news that could disturb.
  const held = isReading && shownLast.current?.count !== 0 ? shownLast.current : undefined;
  const shown = held ?? latest;
  shownLast.current = shown;
  const waiting = count - shown.count;
  const [raw, setRaw] = useState<EventMessage>();
  const release = () => {
    shownLast.current = latest;
    scrollTo(0, 0);
    showNewer(count);
  };
  return (
    <section class="feed" aria-labelledby="events-title">
      <div class="feed-head">
        <h2 id="events-title">Events</h2>
        <button type="button" class="newer" hidden={waiting === 0} onClick={release}>
          Show {waiting} new
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
        {isLoading ? "Loading…" : feedText(hasUpdates, count, events.length)}
        {!isLoading && !hasUpdates && count === 0 && hasEnded && (
          <>
            {" "}
            Flares that ended earlier are <a href={FINISHED}>in the list of finished flares</a>.
          </>
        )}
      </p>
      <ol
        class={hasUpdates ? "events" : "events news"}
        reversed
        hidden={shown.count === 0}
        onPointerEnter={() => setOver(true)}
        onPointerLeave={() => setOver(false)}
        onFocusIn={() => setFocused(true)}
        onFocusOut={() => setFocused(false)}
      >
        {shown.events.map((event, line) => (
          <EventLine key={line} named={event} onRaw={setRaw} />
        ))}
      </ol>
      {raw && <EventSheet event={raw} onClose={() => setRaw(undefined)} />}
    </section>
  );
}

function feedText(hasUpdates: boolean, count: number, shown: number): string {
  if (!hasUpdates)
    return count === 0
      ? "No flare started or ended, and no token was listed, since the server's log began. The next event appears here."
      : "Starts and ends of flares, and listings, of the last 24 hours, or since the server's log began. Click a time for the event as JSON.";
  if (count === 0) return "None since this page was opened. The next one appears here.";
  return `${count} since this page was opened${count > shown ? `; the newest ${shown} are below` : ""}.`;
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

function isByCanary(event: EventMessage): boolean {
  return event.name === "flare-finished" && event.data.cause === "canary";
}

/** Leads to the page of a finished flare, or else of the token. */
function EventLink({ event: { data }, token }: { readonly event: EventMessage; readonly token: Token }) {
  const isAnonymous = useContext(IsAnonymous);
  return (
    <a
      href={"flare" in data ? flarePageHref({ ...data.flare, token }, isAnonymous) : tokenHash(token.address)}
    >
      <UntrustedText text={token.symbol} />
    </a>
  );
}

interface EventLineProps {
  readonly named: NamedEvent;
  /** Shows the event as JSON. It stays the same for the life of the line. */
  readonly onRaw: (event: EventMessage) => void;
}

/** One event. All lines have the same height, so that none pushes the others. */
class EventLine extends Component<EventLineProps> {
  override shouldComponentUpdate({ named }: EventLineProps): boolean {
    return named !== this.props.named;
  }

  override render({ named: { event, token }, onRaw }: EventLineProps) {
    const words = describeEvent(event);
    return (
      <li data-seq={event.seq} class={`${event.name} ${isByCanary(event) ? "by-canary" : ""}`}>
        <button type="button" class="plain" title="Show as JSON" onClick={() => onRaw(event)}>
          <TimeText at={event.observed_at} />
        </button>
        <code>{event.name}</code>
        <small>{event.channel}</small>
        {token === undefined ? <span class="untrusted" /> : <EventLink event={event} token={token} />}
        <span class="words" title={words}>
          {words}
        </span>
      </li>
    );
  }
}
