/** The HTTP server: REST, WebSocket, problems, health. */

export type { HeadLike } from "../hub/index.ts";
export * from "./access/access.ts";
export { clientOf } from "./access/client-address.ts";
export * from "./access/connection-limiter.ts";
export { createOwnHostCheck } from "./access/host-check.ts";
export * from "./access/refusals.ts";
export { BYTES_PER_REQUEST, type Use } from "./access/request-limit.ts";
export { createLocalState, type SharedState } from "./access/shared-state.ts";
export { createTrust } from "./access/trusted-peers.ts";
export { checkHub, checkOrigin, claimantOf } from "./connections/admission.ts";
export * from "./connections/admission-queue.ts";
export type { ConnectionBounds } from "./connections/connection-bounds.ts";
export * from "./connections/connection-registry.ts";
export { EXCHANGE_FLARE, FLARE_STARTED, MARKET } from "./contract/example-market.ts";
export { type Parameter, type ParameterSet, readParameter, readQuery, text } from "./contract/parameters.ts";
export { EVENTS_PATH, METRICS_PATH, STREAM_PATH, TICKETS_PATH } from "./contract/paths.ts";
export { AT, CONDITIONAL, conditional, GROUP, resource, UtcTime } from "./contract/resource.ts";
export {
  FRESHNESS_HEADERS,
  HEADERS,
  type HeaderContract,
  type HeaderName,
  KEY_HEADERS,
} from "./contract/response-headers.ts";
export {
  ANY_PROBLEMS,
  type RouteContract,
  type RouteResponse,
  type RouteRules,
  TAGS,
} from "./contract/route-contract.ts";
export { HEALTH_ROUTE, READY_ROUTE } from "./health-routes.ts";
export { addHostRoutes } from "./host-routes.ts";
export * from "./http-settings.ts";
export type { KeyCounts } from "./key-counts.ts";
export { destroyAfter } from "./problems/client-error.ts";
export { invalid, quote } from "./problems/invalid.ts";
export { PROBLEM_TYPE, problemOf, RETRY_AFTER_S } from "./problems/problem.ts";
export { ResponseCounts } from "./response-counts.ts";
export { noDataYet, stateFields } from "./rest/freshness-fields.ts";
export type { PastState, PastStates } from "./rest/past-states.ts";
export { type PreparedRoute, type ResourceContext, shownTo } from "./rest/prepared-routes.ts";
export { matchesEtag, readyAnswer, sendReady } from "./rest/ready-answer.ts";
export { readyFields } from "./rest/ready-fields.ts";
export { PNG_TYPE, Representation, represent, versionOf } from "./rest/representation.ts";
export { RESOURCES, ResourceBodies } from "./rest/resource-bodies.ts";
export { flarePatternsIn, RESOURCE_ROUTES } from "./rest/resource-routes.ts";
export * from "./rest/responses.ts";
export * as responses from "./rest/responses.ts";
export * from "./server.ts";
export { EVENTS_QUERY } from "./stream/events-query.ts";
export * from "./stream/events-route.ts";
export { STREAM_QUERY } from "./stream/stream-query.ts";
export { SUBPROTOCOL, UPGRADE_PROBLEMS } from "./stream/websocket-admission.ts";
export {
  admitUpgrade,
  openConnection,
  requireUpgrade,
  type UpgradeContext,
} from "./stream/websocket-connection.ts";
export * from "./stream/websocket-route.ts";
export type { SocketSession } from "./stream/websocket-socket.ts";
