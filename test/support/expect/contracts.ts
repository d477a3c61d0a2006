import { ME_ROUTE } from "../../../src/extensions/access/me-route.ts";
import { TICKETS_ROUTE } from "../../../src/extensions/access/tickets-route.ts";
import { DOCUMENTS } from "../../../src/extensions/docs/index.ts";
import { HISTORY_ROUTES } from "../../../src/extensions/history/http/history-routes.ts";
import { PAIRLIST_ROUTE } from "../../../src/extensions/pairlist/pairlist-route.ts";
import { PRODUCER_ROUTE } from "../../../src/extensions/pairlist/producer-route.ts";
import {
  EVENTS_ROUTE,
  HEALTH_ROUTE,
  READY_ROUTE,
  RESOURCE_ROUTES,
  type RouteContract,
  STREAM_ROUTE,
} from "../../../src/gateway/http/index.ts";
import { METRICS_ROUTE } from "../../../src/gateway/http/metrics-route.ts";

/** The resources of the head, and the probes. */
export const ENDPOINTS = {
  ...RESOURCE_ROUTES,
  pairlist: PAIRLIST_ROUTE,
  healthz: HEALTH_ROUTE,
  readyz: READY_ROUTE,
} as const;

/** The contracts of a server with everything. A test compares them with those of a gateway. */
export const CONTRACTS: readonly RouteContract[] = [
  ...Object.values(ENDPOINTS),
  ...Object.values(HISTORY_ROUTES),
  ...[STREAM_ROUTE, PRODUCER_ROUTE, EVENTS_ROUTE, ME_ROUTE, TICKETS_ROUTE],
  METRICS_ROUTE,
  ...Object.values(DOCUMENTS),
];
