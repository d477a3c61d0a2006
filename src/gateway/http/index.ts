/** The HTTP server: REST, WebSocket, problems, health. */

export * from "./access/access.ts";
export { clientOf } from "./access/client-address.ts";
export * from "./access/connection-limiter.ts";
export * from "./access/refusals.ts";
export { createLocalState, type SharedState } from "./access/shared-state.ts";
export { createTrust } from "./access/trusted-peers.ts";
export { checkOrigin } from "./connections/admission.ts";
export * from "./connections/admission-queue.ts";

export type { ConnectionBounds } from "./connections/connection-bounds.ts";
export * from "./connections/connection-registry.ts";
export type { HeadLike } from "./connections/head-like.ts";
export { METRICS_PATH, STREAM_PATH } from "./contract/paths.ts";
export { ANY_PROBLEMS, type RouteContract } from "./contract/route-contract.ts";
export { HEALTH_ROUTE, READY_ROUTE } from "./health-routes.ts";
export * from "./http-settings.ts";
export type { KeyCounts } from "./key-counts.ts";
export { ResponseCounts } from "./response-counts.ts";
export type { PastState, PastStates } from "./rest/past-states.ts";
export { RESOURCE_ROUTES } from "./rest/resource-routes.ts";
export * from "./rest/responses.ts";
export * from "./rest/tickets-route.ts";
export * from "./server.ts";
export * from "./stream/events-route.ts";
export * from "./stream/websocket-route.ts";
