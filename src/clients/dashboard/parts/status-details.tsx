import type { DataFreshness } from "../../sdk/index.ts";
import { access, freshness as latest, seen as state } from "../state/store.ts";
import { formatMoment } from "../text/format.ts";
import { TimeText } from "./time-text.tsx";

const TRANSPORTS = { websocket: "WebSocket", sse: "server-sent events", poll: "long poll" } as const;

/** The details of the connection and the data. */
export function StatusDetails() {
  const seen = state.value;
  const freshness = latest.value;
  return (
    <dl>
      <dt>Transport</dt>
      <dd>{seen ? TRANSPORTS[seen.connection.transport] : "–"}</dd>
      <dt>Cursor</dt>
      <dd>
        <code>{seen?.cursor ?? "–"}</code>
      </dd>
      <dt>Market time</dt>
      <dd>
        {freshness?.observedAt ? (
          <>
            {formatMoment(freshness.observedAt).slice(0, 10)} <TimeText at={freshness.observedAt} hasZone />
          </>
        ) : (
          "–"
        )}
      </dd>
      <dt>Market</dt>
      <dd>{access.value?.origin ?? "–"}</dd>
      <dt>Source</dt>
      <dd>{freshness ? freshnessText(freshness) : "–"}</dd>
      <dt>Events</dt>
      <dd>{seen?.count ?? 0} since this page was opened</dd>
      <dt>Missed</dt>
      <dd>{seen && seen.gaps.length > 0 ? seen.gaps.join("; ") : "nothing"}</dd>
      {seen?.connection.reason && (
        <>
          <dt>Connection</dt>
          <dd>{seen.connection.reason}</dd>
        </>
      )}
    </dl>
  );
}

/** Describes the state of the source. Avoids `live`, which would look like the kind of market. */
function freshnessText({ state, reason }: DataFreshness): string {
  return [state === "live" ? "up to date" : state, reason].filter(Boolean).join(": ");
}
