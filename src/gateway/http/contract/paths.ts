/* Paths that the code of other routes names too, relative to the base path. */

/** Path of the WebSocket, also in `Link`. */
export const STREAM_PATH = "/api/v1/stream";
export const TICKETS_PATH = "/api/v1/tickets";
export const EVENTS_PATH = "/api/v1/events";
export const SNAPSHOT_PATH = "/api/v1/snapshot";
export const HEALTH_PATH = "/healthz";
export const READY_PATH = "/readyz";

/** Served if the setting `metrics` is on; without a base path on the metrics' own server. */
export const METRICS_PATH = "/metrics";
