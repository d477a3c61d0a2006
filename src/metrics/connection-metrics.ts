import type { Registry } from "prom-client";
import type { Hub } from "../hub/index.ts";
import { level, total } from "./read-metric.ts";

/** Who is connected, what they were sent, and how resumes went. */
export function addConnections(registry: Registry, hub: Hub): void {
  const { counters } = hub;
  addAdmissions(registry, hub);
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
    "Connections taken, by transport.",
    () => counters.opened,
    "transport",
  );
  total(
    registry,
    "flarewire_connections_closed_total",
    "Connections that are over, by the reason that the server gave; client: it left by itself.",
    () => counters.closed,
    "reason",
  );
  level(registry, "flarewire_connections_behind", "Connections that are being caught up.", () => hub.behind);
  level(
    registry,
    "flarewire_lag_events",
    "Events between the head and the connection that is furthest behind.",
    () => hub.worstLag,
    undefined,
    "max",
  );
  total(
    registry,
    "flarewire_resumes_total",
    "Resumes, by verdict: full, or reset with a fresh snapshot.",
    () => {
      const reset = Object.values(counters.resets).reduce((sum, count) => sum + count, 0);
      return { full: counters.resumed, reset };
    },
    "verdict",
  );
  total(
    registry,
    "flarewire_resets_total",
    "Resumes that could not go on, by reason.",
    () => counters.resets,
    "reason",
  );
  total(
    registry,
    "flarewire_deliveries_total",
    "Events given to sockets: one to a thousand clients counts a thousand.",
    () => counters.deliveries,
  );
  total(
    registry,
    "flarewire_delivered_bytes_total",
    "Their bytes, framed, as they were sent: compressed where they were.",
    () => counters.deliveredBytes,
  );
  total(
    registry,
    "flarewire_deflate_input_bytes_total",
    "Bytes of events and snapshots that were compressed, each counted once however many were sent it.",
    () => counters.deflatedFromBytes,
  );
  total(registry, "flarewire_deflate_output_bytes_total", "The same, after.", () => counters.deflatedToBytes);
  total(
    registry,
    "flarewire_conflations_total",
    "Backlogs replaced by the state at the head, for clients in mode latest.",
    () => counters.conflations,
  );
}

/** What was refused, and why. */
export function addRefusals(registry: Registry, read: () => Readonly<Partial<Record<string, number>>>): void {
  total(
    registry,
    "flarewire_refusals_total",
    "Refused connections and requests, by reason: a bound that was reached, or the code of the problem.",
    () => ({ connections: 0, ...read() }),
    "reason",
  );
}

function addAdmissions(registry: Registry, { counters }: Hub): void {
  level(
    registry,
    "flarewire_admissions_waiting",
    "Requests for a stream or for events that wait until it is their turn to be let in.",
    () => counters.admissionsWaiting,
  );
  total(
    registry,
    "flarewire_admissions_total",
    "Such requests, by outcome: admitted; refused when it was their turn, for want of room or of a right; refused because too many waited (full) or because it waited for too long (late); gone: it left before.",
    () => counters.admissions,
    "outcome",
  );
}
