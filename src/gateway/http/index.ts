/** The HTTP server: REST, WebSocket, problems, health. */

export * from "./access/access.ts";
export { clientOf } from "./access/client-address.ts";
export * from "./access/connection-limiter.ts";
export * from "./access/key-access-policy.ts";
export * from "./access/refusals.ts";
export { createLocalState, type SharedState } from "./access/shared-state.ts";
export { createTrust } from "./access/trusted-peers.ts";
export { checkOrigin } from "./connections/admission.ts";
export * from "./connections/admission-queue.ts";
export { Audit, LINES_PER_MINUTE } from "./connections/audit.ts";
export type { ConnectionBounds } from "./connections/connection-bounds.ts";
export * from "./connections/connection-registry.ts";
export * from "./connections/head-like.ts";
export { LISTEN_BACKLOG } from "./connections/listen-backlog.ts";
export * from "./endpoints.ts";
export * from "./host-routes.ts";
export * from "./http-settings.ts";
export type { KeyCounts } from "./key-counts.ts";
export * from "./metrics-route.ts";
export { ResponseCounts } from "./response-counts.ts";
export type { PastState, PastStates } from "./rest/past-states.ts";
export * from "./rest/responses.ts";
export * from "./rest/tickets-route.ts";
export * from "./server.ts";
export * from "./stream/events-route.ts";
export * from "./stream/websocket-route.ts";
