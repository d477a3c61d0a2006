import type { z } from "zod";
import { Charts, Flares, Leaderboards, Newest } from "../model/index.ts";
import type { ErrorCode } from "../protocol/index.ts";
import {
  EventsResponse,
  HealthResponse,
  ReadyResponse,
  SnapshotResponse,
  TicketResponse,
} from "./rest/responses.ts";

/** An address of REST: what is served there, and what it can answer instead. All take GET, HEAD and OPTIONS. */
export interface Endpoint {
  /** Below the base path. */
  readonly path: string;
  /** One sentence for whoever reads the contract. */
  readonly summary: string;
  /** The body of status 200. */
  readonly schema: z.ZodType;
  /** Has an entity tag, answers 304, is compressed on request, and carries the `Flarewire-*` fields. */
  readonly conditional: boolean;
  /** Served at the root too, where the base path is not empty: probes of the machine know no base path. */
  readonly alsoAtRoot: boolean;
  /** The problems that are its own, beside those that any address can answer. */
  readonly problems: readonly ErrorCode[];
}

function resource(path: string, summary: string, schema: z.ZodType): Endpoint {
  const problems: readonly ErrorCode[] = ["invalid-parameter", "unauthorized", "not-ready"];
  return { path, summary, schema, conditional: true, alsoAtRoot: false, problems };
}

/** Every address of REST, in the order in which documents list them. Resources take no query parameters and refuse any; probes ignore theirs. */
export const ENDPOINTS = {
  flares: resource("/api/v1/flares", "Tokens that trend, and those that lately did.", Flares),
  newest: resource("/api/v1/newest", "Tokens of BSC listed within the last 15 minutes.", Newest),
  charts: resource("/api/v1/charts", "By group, the ten tokens that perform best at the moment.", Charts),
  leaderboards: resource(
    "/api/v1/leaderboards",
    "By group, the tokens that trended the most in the past 6 hours.",
    Leaderboards,
  ),
  snapshot: resource(
    "/api/v1/snapshot",
    "All of the above at one instant, with the cursor to continue from.",
    SnapshotResponse,
  ),
  healthz: {
    path: "/healthz",
    summary: "Whether the process lives.",
    schema: HealthResponse,
    conditional: false,
    alsoAtRoot: true,
    problems: [],
  },
  readyz: {
    path: "/readyz",
    summary: "Whether fresh data is served.",
    schema: ReadyResponse,
    conditional: false,
    alsoAtRoot: true,
    problems: ["not-ready", "draining"],
  },
} as const satisfies Record<string, Endpoint>;

/**
 * Events over HTTP: the body of 200 as JSON; 204 when a wait brought nothing. To whoever asks for `text/event-stream` it is a stream. Not
 * among {@link ENDPOINTS}, because it needs a hub: see `registerEvents`.
 */
export const EVENTS_ENDPOINT = {
  path: "/api/v1/events",
  summary: "Events behind a cursor, as JSON, waiting for them on request; or server-sent events.",
  schema: EventsResponse,
  conditional: false,
  alsoAtRoot: false,
  problems: [
    "invalid-parameter",
    "unknown-channel",
    "unauthorized",
    "forbidden",
    "origin-refused",
    "cursor-gone",
    "not-ready",
    "draining",
  ],
} as const satisfies Endpoint;

/** Tickets for connections that cannot send header fields; takes POST only, answers 201, and needs a key. Not among {@link ENDPOINTS}: see `registerTickets`. */
export const TICKETS_ENDPOINT = {
  path: "/api/v1/tickets",
  summary: "A ticket that opens one connection in the name of a key.",
  schema: TicketResponse,
  conditional: false,
  alsoAtRoot: false,
  problems: ["invalid-parameter", "unauthorized", "origin-refused", "not-found", "over-capacity"],
} as const satisfies Endpoint;

export type EndpointName = keyof typeof ENDPOINTS;

/** Where the WebSocket is, below the base path; every resource's `Link` field points there. */
export const STREAM_PATH = "/api/v1/stream";

/** Why a stream is refused while it is still HTTP, beside the problems that any address can answer. */
export const STREAM_PROBLEMS = [
  "invalid-parameter",
  "unknown-channel",
  "unsupported-version",
  "origin-refused",
  "upgrade-required",
  "not-ready",
  "draining",
] as const satisfies readonly ErrorCode[];

/** Problems that any address can answer: what breaks a bound before it is looked at, and a fault of the server. */
export const ANY_PROBLEMS = [
  "invalid-request",
  "host-refused",
  "request-timeout",
  "content-too-large",
  "address-too-long",
  "unsupported-media-type",
  "headers-too-large",
  "rate-limited",
  "over-capacity",
  "internal",
] as const satisfies readonly ErrorCode[];

/** What tells people and their tools about the rest. All take GET, HEAD and OPTIONS, have an entity tag, and depend on no data. */
export const DOCUMENTS = {
  openapi: { path: "/openapi.json", type: "application/json", summary: "This interface as OpenAPI 3.1." },
  asyncapi: {
    path: "/asyncapi.json",
    type: "application/json",
    summary: "The events and messages as AsyncAPI 3.0.",
  },
  docs: { path: "/docs", type: "text/html", summary: "REST, to be read and tried in a browser." },
  docsEvents: {
    path: "/docs/events",
    type: "text/html",
    summary: "Events and messages, to be read and tried.",
  },
  docsProtocol: { path: "/docs/protocol", type: "text/html", summary: "The protocol: the normative text." },
  docsGuides: { path: "/docs/guides", type: "text/html", summary: "The other documents of this version." },
  docsScript: { path: "/docs/page.js", type: "text/javascript", summary: "The script of the pages." },
  docsStyle: { path: "/docs/page.css", type: "text/css", summary: "The style sheet of the pages." },
} as const;
