import { GROUP_FACTS, GROUPS } from "../../../base/model/groups.ts";
import { Pitch } from "../parts/bot/pitch.tsx";
import { NowS } from "../parts/flare/age.tsx";
import { FlareList } from "../parts/flare/flare-list.tsx";
import { LACKING } from "../parts/groups.tsx";
import { Segments } from "../parts/segments.tsx";
import { Timeline } from "../parts/timeline/timeline.tsx";
import { flaresHash } from "../route.ts";
import {
  DEFAULT_QUERY,
  type FlareChannel,
  type FlareQuery,
  shownQuery,
  visibleChannels,
} from "../state/flare-query.ts";
import type { FlareLists } from "../state/group/flare-lists.ts";
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
  /** `undefined` before the first response, an Error if the server refused the request. */
  readonly lists: FlareLists | Error | undefined;
  readonly server: URL;
  readonly hasKeys: boolean;
  readonly apiKey: string | undefined;
}

/** The flares of the chosen group, with the choice of the group. */
export function FlaresView({ lists, hasKeys, ...props }: FlaresViewProps) {
  const { query, go, server } = props;
  const { group } = query;
  return (
    <>
      <Pitch query={shownQuery(query, lists)} server={server} hasKeys={hasKeys} />
      <Segments
        legend="Group"
        name="group"
        options={GROUPS}
        chosen={group}
        // Search and filters are about tokens of one group. Its list and time apply to all.
        onChoose={(chosen) => {
          const { channel, window, at } = query;
          go(flaresHash({ ...DEFAULT_QUERY, group: chosen, channel, window, at }), "push");
        }}
        label={(name) => GROUP_FACTS[name].label}
      />
      {lists instanceof Error ? (
        <p class="empty" role="status">
          These flares did not load: {lists.message}
        </p>
      ) : lists ? (
        <GroupFlares key={group} {...props} view={lists} />
      ) : (
        <p class="empty">Loading…</p>
      )}
    </>
  );
}

interface GroupFlaresProps extends Omit<FlaresViewProps, "lists" | "hasKeys"> {
  readonly view: FlareLists;
}

/** What happened in the last hours, and the flares of the chosen list, now or at a past minute. */
function GroupFlares({ query: given, go, view, server, apiKey }: GroupFlaresProps) {
  const channels = visibleChannels(view);
  const query = shownQuery(given, view);
  const { group, channel, window, at } = query;
  const onQuery = (next: FlareQuery, how: "push" | "replace") => go(flaresHash(next), how);
  const past = usePast(server, apiKey, group, at);
  const list = { query, channels, onQuery, server, apiKey };
  return (
    <>
      <Timeline
        group={group}
        view={view}
        server={server}
        apiKey={apiKey}
        window={window}
        at={at}
        onWindow={(chosen) => onQuery({ ...query, window: chosen }, "push")}
        onAt={(chosen, how) => onQuery({ ...query, at: chosen }, how)}
      />
      {group !== "bsc" && channel !== "flares.finished" && (
        <p class="legend">
          Prices of each minute are stored for BSC only, so these flares show no change since the start.
        </p>
      )}
      <section aria-labelledby="flares-title" class={`${at === undefined ? "" : "past"} ${LACKING[group]}`}>
        <h2 id="flares-title">
          {TITLES[channel]} {channel === "flares.pro" && at === undefined && "now"}
          {at !== undefined && (
            <>
              at <time dateTime={at}>{`${at.slice(0, 10)} ${at.slice(11, 16)}`}</time> UTC{" "}
              <button type="button" onClick={() => onQuery({ ...query, at: undefined }, "push")}>
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
