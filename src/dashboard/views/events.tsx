import { Component } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { UntrustedText } from "../parts/untrusted-text.tsx";
import type { NamedEvent } from "../state/seen.ts";
import { describeEvent } from "../text/describe-event.ts";
import { formatTime } from "../text/format.ts";

interface Shown {
  readonly events: readonly NamedEvent[];
  readonly count: number;
}

/** Scrolled at least this far, the visitor is reading older events. */
const READS_FROM_PX = 80;

/** The newest events. Lines stand still while the visitor reads; new ones wait behind a button. */
export function EventsView({ events, count }: Shown) {
  const [isOver, setOver] = useState(false);
  const [isFocused, setFocused] = useState(false);
  const [isStill] = useState(() => matchMedia("(prefers-reduced-motion: reduce)").matches);
  const isScrolled = useScrolled();
  const [, showNewer] = useState(0);
  const shownLast = useRef<Shown>(undefined);
  const latest = { events, count };
  // The scroll event comes a frame late: events that arrive before it look for themselves.
  const isReading = isOver || isFocused || isStill || isScrolled || scrollY > READS_FROM_PX;
  const shown = (isReading ? shownLast.current : undefined) ?? latest;
  shownLast.current = shown;
  const waiting = count - shown.count;
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
      </div>
      {count === 0 ? (
        <p>None since this page was opened. The next one appears here.</p>
      ) : (
        <p>
          {count} since this page was opened
          {count > events.length && `; the newest ${events.length} are below`}.
        </p>
      )}
      <ol
        class="events"
        reversed
        hidden={shown.count === 0}
        onPointerEnter={() => setOver(true)}
        onPointerLeave={() => setOver(false)}
        onFocusIn={() => setFocused(true)}
        onFocusOut={() => setFocused(false)}
      >
        {shown.events.map((event, line) => (
          <EventLine key={line} named={event} />
        ))}
      </ol>
    </section>
  );
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

/** One event. All lines have the same height, so that none pushes the others. */
class EventLine extends Component<{ readonly named: NamedEvent }> {
  override shouldComponentUpdate({ named }: { readonly named: NamedEvent }): boolean {
    return named !== this.props.named;
  }

  override render({ named: { event, symbol } }: { readonly named: NamedEvent }) {
    const words = describeEvent(event);
    return (
      <li data-seq={event.seq}>
        <time dateTime={event.observed_at}>{formatTime(event.observed_at)}</time>
        <code>{event.name}</code>
        <small>{event.channel}</small>
        {symbol === undefined ? <span class="untrusted" /> : <UntrustedText text={symbol} />}
        <span class="words" title={words}>
          {words}
        </span>
      </li>
    );
  }
}
