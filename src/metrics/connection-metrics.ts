import type { Registry } from "prom-client";
import type { Hub } from "../hub/index.ts";
import { level, total } from "./read-metric.ts";

export function addConnections(registry: Registry, hub: Hub): void {
  const { counters } = hub;
  addAdmissions(registry, hub);
  addCompression(registry, hub);
  level(
    registry,
    "flarewire_connections",
    "Open connections, by transport.",
    () => counters.open,
    "transport",
  );
  level(
    registry,
    "flarewire_connections_compressed",
    "Open WebSockets that negotiated compression.",
    () => counters.openDeflated,
  );
  total(
    registry,
    "flarewire_connections_opened_total",
    "Connections accepted, by transport.",
    () => counters.opened,
    "transport",
  );
  total(
    registry,
    "flarewire_connections_closed_total",
    "Connections closed, by the server's reason; client: closed by the client.",
    () => counters.closed,
    "reason",
  );
  level(registry, "flarewire_connections_behind", "Connections that are catching up.", () => hub.behind);
  level(
    registry,
    "flarewire_lag_events",
    "Events between the head and the slowest connection.",
    () => hub.worstLag,
    undefined,
    "max",
  );
  total(
    registry,
    "flarewire_resumes_total",
    "Resumes, by result: full, or reset with a new snapshot.",
    () => {
      const reset = Object.values(counters.resets).reduce((sum, count) => sum + count, 0);
      return { full: counters.resumed, reset };
    },
    "verdict",
  );
  total(
    registry,
    "flarewire_resets_total",
    "Resumes that led to a reset, by reason.",
    () => counters.resets,
    "reason",
  );
  total(
    registry,
    "flarewire_deliveries_total",
    "Events written to sockets; one event to a thousand clients counts a thousand.",
    () => counters.deliveries,
  );
  total(
    registry,
    "flarewire_delivered_bytes_total",
    "Bytes of these events as sent, with frame headers and after compression.",
    () => counters.deliveredBytes,
  );
  total(
    registry,
    "flarewire_conflations_total",
    "Backlogs replaced with the current state, for clients in mode latest.",
    () => counters.conflations,
  );
}

export function addRefusals(registry: Registry, read: () => Readonly<Partial<Record<string, number>>>): void {
  total(
    registry,
    "flarewire_refusals_total",
    "Refused connections and requests, by reason: the limit that was reached, or the problem code.",
    () => ({ connections: 0, ...read() }),
    "reason",
  );
}

function addAdmissions(registry: Registry, { counters }: Hub): void {
  level(
    registry,
    "flarewire_admissions_waiting",
    "Requests for a stream or for events that wait for admission.",
    () => counters.admissionsWaiting,
  );
  total(
    registry,
    "flarewire_admissions_total",
    "These requests, by outcome: admitted; refused, for capacity or access; full, too many were waiting; late, waited too long; gone, the client left.",
    () => counters.admissions,
    "outcome",
  );
}

function addCompression(registry: Registry, { counters }: Hub): void {
  total(
    registry,
    "flarewire_deflate_input_bytes_total",
    "Bytes of events and snapshots before compression, each counted once for all clients.",
    () => counters.deflatedFromBytes,
  );
  total(
    registry,
    "flarewire_deflate_output_bytes_total",
    "The same, compressed.",
    () => counters.deflatedToBytes,
  );
}
