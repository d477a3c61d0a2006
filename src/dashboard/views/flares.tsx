import { useMemo } from "preact/hooks";
import type { View } from "../../client/index.ts";
import { Pitch } from "../parts/bot/pitch.tsx";
import { FlareRow } from "../parts/flare/flare-row.tsx";
import { Gliding } from "../parts/flare/gliding.tsx";
import { WhyLegend } from "../parts/flare/why-bars.tsx";
import { FlareControls } from "../parts/flare-controls.tsx";
import { Timeline } from "../parts/timeline/timeline.tsx";
import { flaresHash } from "../route.ts";
import { type FlareChannel, type FlareQuery, LIST_OF_CHANNEL } from "../state/flare-query.ts";
import { sortFlares, sparksOf, wantedFlares, withoutFilters } from "../state/select-flares.ts";
import type { Go } from "../state/use-route.ts";

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
  const charts = view.charts?.bsc;
  const sparks = useMemo(() => sparksOf(charts ?? []), [charts]);
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
        <FlareControls query={query} channels={channels} view={view} onQuery={onQuery} />
        <WhyLegend />
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
          <table class="rows flares">
            <thead>
              <tr>
                <th scope="col">Token</th>
                <th scope="col" class="hour">
                  Hour
                </th>
                <th scope="col">{channel === "flares.finished" ? "Ran for" : "Age"}</th>
                <th scope="col">5 min (before)</th>
                <th scope="col">Buys / sells</th>
                <th scope="col">Liquidity</th>
                <th scope="col">Why</th>
              </tr>
            </thead>
            <Gliding as="tbody" order={shown.map(({ id }) => id).join()}>
              {shown.map((flare) => (
                <FlareRow
                  key={flare.id}
                  flare={flare}
                  why={view.explanations[flare.id]}
                  spark={sparks.get(flare.token.address.toLowerCase())}
                />
              ))}
            </Gliding>
          </table>
        )}
      </section>
    </>
  );
}
