import type { Hub } from "../hub/index.ts";
import { distribution, level, type Metrics, total } from "./metric-table.ts";

export function connectionMetrics(hub: Hub): Metrics {
  const { counters } = hub;
  const resumes = () => {
    const reset = Object.values(counters.resets).reduce((sum, count) => sum + count, 0);
    return { full: counters.resumed, reset };
  };
  return {
    flarewire_admissions_waiting: level(
      "Requests for a stream or for events that wait for admission.",
      () => counters.admissionsWaiting,
    ),
    flarewire_admissions_total: total(
      "Requests for a stream or for events, by outcome of their admission: admitted; refused, for capacity or access; full, too many were waiting; late, waited too long; gone, the client left.",
      () => counters.admissions,
      "outcome",
    ),
    flarewire_deflate_input_bytes_total: total(
      "Bytes of events and snapshots before compression, each counted once for all clients.",
      () => counters.deflatedFromBytes,
    ),
    flarewire_deflate_output_bytes_total: total(
      "Bytes of events and snapshots after compression, each counted once for all clients.",
      () => counters.deflatedToBytes,
    ),
    flarewire_connections: level("Open connections, by transport.", () => counters.open, "transport"),
    flarewire_connections_compressed: level(
      "Open WebSockets that negotiated compression.",
      () => counters.openDeflated,
    ),
    flarewire_connections_opened_total: total(
      "Connections accepted, by transport.",
      () => counters.opened,
      "transport",
    ),
    flarewire_connections_closed_total: total(
      "Connections closed, by the server's reason; client: closed by the client.",
      () => counters.closed,
      "reason",
    ),
    flarewire_connections_behind: level("Connections that are catching up.", () => hub.behind),
    flarewire_lag_events: level("Events between the head and the slowest connection.", () => hub.worstLag),
    flarewire_resumes_total: total(
      "Resumes, by result: full, or reset with a new snapshot.",
      resumes,
      "verdict",
    ),
    flarewire_resets_total: total("Resumes that led to a reset, by reason.", () => counters.resets, "reason"),
    flarewire_deliveries_total: total(
      "Events written to sockets; one event to a thousand clients counts a thousand.",
      () => counters.deliveries,
    ),
    flarewire_delivered_bytes_total: total(
      "Bytes of events written to sockets, as sent, with frame headers and after compression.",
      () => counters.deliveredBytes,
    ),
    flarewire_delivery_delay_seconds: distribution(
      "Time from an event's emitted_at until the socket of a live client has it; each delivery counts. On an edge it includes the time from the leader and the difference between the clocks.",
      () => [[{}, counters.delays.seconds]],
    ),
    flarewire_conflations_total: total(
      "Backlogs replaced with the current state, for clients in mode latest.",
      () => counters.conflations,
    ),
  };
}
