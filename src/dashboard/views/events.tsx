import type { StreamEvent } from "../../client/index.ts";
import { describeEvent } from "../describe-event.ts";
import { formatTime } from "../format.ts";
import { Stranger } from "../parts/stranger.tsx";

/** The newest events as they come. */
export function EventsView({
  events,
  count,
}: {
  readonly events: readonly StreamEvent[];
  readonly count: number;
}) {
  return (
    <section aria-labelledby="events-title">
      <h2 id="events-title">Events</h2>
      <p>
        {count} since this page was opened; the newest {events.length} are below.
      </p>
      <ol class="events" reversed>
        {events.map((event) => {
          const { about, words } = describeEvent(event);
          return (
            <li key={event.cursor} data-seq={event.seq}>
              <time dateTime={event.observed_at}>{formatTime(event.observed_at)}</time>
              <code>{event.name}</code>
              <small>{event.channel}</small>
              {about !== undefined && <Stranger text={about} />}
              <span>{words}</span>
            </li>
          );
        })}
      </ol>
    </section>
  );
}
