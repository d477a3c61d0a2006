import type { View } from "../../client/index.ts";
import { Pitch } from "../parts/bot/pitch.tsx";
import { FinishedRow, FlareRow } from "../parts/flare/flare-row.tsx";
import { Gliding } from "../parts/flare/gliding.tsx";
import { WhyLegend } from "../parts/flare/why-bars.tsx";
import { FlareControls } from "../parts/flare-controls.tsx";
import { Timeline } from "../parts/timeline/timeline.tsx";
import { flaresHash } from "../route.ts";
import { useCandles } from "../state/candles/use-candles.ts";
import { type FlareChannel, type FlareQuery, LIST_OF_CHANNEL } from "../state/flare-query.ts";
import { sortFlares, wantedFlares, withoutFilters } from "../state/select-flares.ts";
import type { Go } from "../state/use-route.ts";
import { useWatched } from "../state/visitor/use-watched.ts";

const TITLES = {
  "flares.pro": "Flaring now",
  "flares.free": "Flaring for 5 minutes or more",
  "flares.finished": "Finished",
} as const satisfies Record<FlareChannel, string>;

const NONE = {
  "flares.pro": "No flares right now. New ones appear here.",
  "flares.free": "No flare has lasted 5 minutes without a warning. New ones appear here.",
  "flares.finished": "No flare finished within the last 24 hours.",
} as const satisfies Record<FlareChannel, string>;

const COLUMNS = ["Token", "Last hour", "Since start", "5 min (before)", "Buys / sells", "Liquidity", "Age"];
const FINISHED_COLUMNS = ["Token", "Course", "Peak", "End", "After 5 min", "15 min", "60 min"];
/** Classes of columns that are hidden on some screens, or if the source lacks their fact. */
const CLASSES: Readonly<Record<string, string>> = {
  "Last hour": "hour",
  "Buys / sells": "of-trades",
  Liquidity: "of-liquidity",
};

interface FlaresViewProps {
  readonly query: FlareQuery;
  readonly go: Go;
  readonly view: View;
  readonly server: URL;
  readonly apiKey: string | undefined;
}

/** What happened in the last hours, and the flares of the chosen list. */
export function FlaresView({ query: given, go, view, server, apiKey }: FlaresViewProps) {
  const channels = (Object.keys(LIST_OF_CHANNEL) as FlareChannel[]).filter(
    (channel) => view.flares?.[LIST_OF_CHANNEL[channel]],
  );
  const channel = channels.includes(given.channel) ? given.channel : (channels[0] ?? "flares.free");
  const query = { ...given, channel };
  const onQuery = (next: FlareQuery, how: "push" | "replace") => go(flaresHash(next), how);
  const all = view.flares?.[LIST_OF_CHANNEL[channel]] ?? [];
  const shown = sortFlares(wantedFlares(all, view.explanations, query), view.explanations, query.order);
  const candles = useCandles(server, apiKey, view.flares?.pro ?? view.flares?.free ?? []);
  const watched = useWatched();
  const isFinished = channel === "flares.finished";
  return (
    <>
      <Pitch query={query} server={server} />
      <Timeline
        view={view}
        server={server}
        apiKey={apiKey}
        window={query.window}
        onWindow={(window) => onQuery({ ...query, window }, "replace")}
      />
      <section aria-labelledby="flares-title">
        <h2 id="flares-title">{TITLES[channel]}</h2>
        <FlareControls
          query={query}
          channels={channels}
          view={view}
          watched={watched.tokens}
          onQuery={onQuery}
        />
        {isFinished ? <CourseLegend /> : <WhyLegend />}
        {shown.length === 0 ? (
          <p class="empty">
            {all.length === 0 ? NONE[channel] : `None of ${all.length} matches your choice.  `}
            {all.length > 0 && (
              <button type="button" onClick={() => onQuery(withoutFilters(query), "push")}>
                Show all
              </button>
            )}
          </p>
        ) : (
          <table class={isFinished ? "rows flares finished" : "rows flares"}>
            <thead>
              <tr>
                {(isFinished ? FINISHED_COLUMNS : COLUMNS).map((title) => (
                  <th key={title} scope="col" class={CLASSES[title]}>
                    {title}
                  </th>
                ))}
              </tr>
            </thead>
            <Gliding as="tbody" order={shown.map(({ id }) => id).join()}>
              {shown.map((flare) => {
                const address = flare.token.address.toLowerCase();
                const row = {
                  ...{
                    flare,
                    why: view.explanations[flare.id],
                    onWatch: watched.toggle,
                  },
                  isWatched: watched.tokens.has(address),
                };
                return isFinished ? (
                  <FinishedRow key={flare.id} {...row} outcome={view.outcomes?.[flare.id]} />
                ) : (
                  <FlareRow
                    key={flare.id}
                    {...row}
                    candles={candles.of.get(address)}
                    closedMs={candles.closedMs}
                  />
                );
              })}
            </Gliding>
          </table>
        )}
      </section>
    </>
  );
}

function CourseLegend() {
  return (
    <p class="legend" aria-hidden="true">
      <span>▲ start</span>
      <span>● peak</span>
      <span>■ end</span>
      <span>all changes are from the start</span>
    </p>
  );
}
