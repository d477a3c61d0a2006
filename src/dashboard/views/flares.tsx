import type { View } from "../../client/index.ts";
import { Pitch } from "../parts/bot/pitch.tsx";
import { NowS } from "../parts/flare/age.tsx";
import { FlareList } from "../parts/flare/flare-list.tsx";
import { Scrubber } from "../parts/timeline/scrubber.tsx";
import { Timeline } from "../parts/timeline/timeline.tsx";
import { flaresHash } from "../route.ts";
import { type FlareChannel, type FlareQuery, LIST_OF_CHANNEL } from "../state/flare-query.ts";
import { usePast } from "../state/use-past.ts";
import type { Go } from "../state/use-route.ts";

const TITLES = {
  "flares.pro": "Flaring",
  "flares.free": "Flaring for 5 minutes or more",
  "flares.finished": "Finished",
} as const satisfies Record<FlareChannel, string>;

interface FlaresViewProps {
  readonly query: FlareQuery;
  readonly go: Go;
  readonly view: View;
  readonly server: URL;
  readonly apiKey: string | undefined;
}

/** What happened in the last hours, and the flares of the chosen list, now or at a past minute. */
export function FlaresView({ query: given, go, view, server, apiKey }: FlaresViewProps) {
  const channels = (Object.keys(LIST_OF_CHANNEL) as FlareChannel[]).filter(
    (channel) => view.flares?.[LIST_OF_CHANNEL[channel]],
  );
  const channel = channels.includes(given.channel) ? given.channel : (channels[0] ?? "flares.free");
  const query = { ...given, channel };
  const { window, at } = query;
  const onQuery = (next: FlareQuery, how: "push" | "replace") => go(flaresHash(next), how);
  const past = usePast(server, apiKey, at);
  const list = { query, channels, onQuery, server, apiKey };
  return (
    <>
      <Pitch query={query} server={server} />
      <Timeline
        {...{ view, server, apiKey, window, at }}
        onWindow={(chosen) => onQuery({ ...query, window: chosen }, "replace")}
      />
      <Scrubber
        {...{ window, at, server, apiKey }}
        onAt={(chosen) => onQuery({ ...query, at: chosen }, "replace")}
      />
      <section aria-labelledby="flares-title" class={at === undefined ? "" : "past"}>
        <h2 id="flares-title">
          {TITLES[channel]} {channel === "flares.pro" && at === undefined && "now"}
          {at !== undefined && (
            <>
              at <time dateTime={at}>{`${at.slice(0, 10)} ${at.slice(11, 16)}`}</time> UTC{" "}
              <button type="button" onClick={() => onQuery({ ...query, at: undefined }, "replace")}>
                Back to now
              </button>
            </>
          )}
        </h2>
        {at === undefined ? (
          <FlareList {...list} view={view} />
        ) : past instanceof Error ? (
          <p class="empty" role="status">
            {past.message}
          </p>
        ) : past?.at === at ? (
          <NowS.Provider value={Math.floor(Date.parse(past.observedAt) / 1_000)}>
            <FlareList {...list} view={past.view} />
          </NowS.Provider>
        ) : (
          <p class="empty">Loading…</p>
        )}
      </section>
    </>
  );
}
