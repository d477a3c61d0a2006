import { Component } from "preact";
import { Stranger } from "../parts/stranger.tsx";
import type { ToldEvent } from "../state/follow.ts";
import { describeEvent } from "../text/describe-event.ts";
import { formatTime } from "../text/format.ts";

/** The newest events as they come. */
export function EventsView({
  events,
  count,
}: {
  readonly events: readonly ToldEvent[];
  readonly count: number;
}) {
  return (
    <section class="feed" aria-labelledby="events-title">
      <h2 id="events-title">Events</h2>
      {count === 0 ? (
        <p>None came since this page was opened. The next stands here at once.</p>
      ) : (
        <p>
          {count} since this page was opened
          {count > events.length && `; the newest ${events.length} are below`}.
        </p>
      )}
      <ol class="events" reversed hidden={count === 0}>
        {events.map((told) => (
          <EventLine key={told.event.cursor} told={told} />
        ))}
      </ol>
    </section>
  );
}

/** One event, which never changes. */
class EventLine extends Component<{ readonly told: ToldEvent }> {
  override shouldComponentUpdate(): boolean {
    return false;
  }

  override render({ told: { event, symbol } }: { readonly told: ToldEvent }) {
    return (
      <li data-seq={event.seq}>
        <time dateTime={event.observed_at}>{formatTime(event.observed_at)}</time>
        <code>{event.name}</code>
        <small>{event.channel}</small>
        {symbol !== undefined && <Stranger text={symbol} />}
        <span>{describeEvent(event)}</span>
      </li>
    );
  }
}
