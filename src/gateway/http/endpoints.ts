import type { z } from "zod";
import {
  AnyFlares,
  Candles,
  Charts,
  FlareRecord,
  Leaderboards,
  Newest,
  TokenDetails,
  TrackRecord,
} from "../../base/model/index.ts";
import type { ErrorCode } from "../../base/protocol/index.ts";
import {
  EventsResponse,
  HealthResponse,
  HistoryResponse,
  Pairlist,
  ReadyResponse,
  SnapshotResponse,
  TicketResponse,
} from "./rest/responses.ts";

/**
 * A REST path with its responses. Tickets accept POST and OPTIONS, all others GET, HEAD and
 * OPTIONS.
 */
export interface Endpoint {
  /** Relative to the base path. */
  readonly path: string;
  /** One sentence for the API contract. */
  readonly summary: string;
  /** Body of status 200. */
  readonly schema: z.ZodType;
  /** Has an entity tag, 304, compression and the `Flarewire-*` fields. */
  readonly conditional: boolean;
  /** Also served at the root, for probes, which do not know the base path. */
  readonly alsoAtRoot: boolean;
  /** Problems specific to the path, in addition to those of any path. */
  readonly problems: readonly ErrorCode[];
}

/** Describes a resource. All have the parameter `at`, if the server has a history. */
function resource(path: string, summary: string, schema: z.ZodType): Endpoint {
  const problems: readonly ErrorCode[] = [
    ...(["invalid-parameter", "unauthorized", "forbidden", "not-ready"] as const),
    ...(["time-gone", "over-capacity"] as const),
  ];
  return { path, summary, schema, conditional: true, alsoAtRoot: false, problems };
}

/** Problems specific to one flare or token. */
const NAMED_PROBLEMS: readonly ErrorCode[] = [
  "invalid-parameter",
  "unauthorized",
  "forbidden",
  "not-found",
  "time-gone",
  "over-capacity",
  "not-ready",
];

/** The REST paths in the order of the documents. Resources refuse unknown query parameters. */
export const ENDPOINTS = {
  flares: resource("/api/v1/flares", "Tokens that are flaring, and those that recently were.", AnyFlares),
  newest: resource("/api/v1/newest", "BSC tokens listed within the last 15 minutes.", Newest),
  charts: resource("/api/v1/charts", "The ten tokens of each group with the best price change.", Charts),
  leaderboards: resource(
    "/api/v1/leaderboards",
    "The tokens of each group that were in the chart longest in the past 6 hours.",
    Leaderboards,
  ),
  candles: resource(
    "/api/v1/candles",
    "One-minute candles of the past hour for each token that is flaring.",
    Candles,
  ),
  snapshot: resource(
    "/api/v1/snapshot",
    "All of the above except the candles, at one instant, with a cursor to continue from.",
    SnapshotResponse,
  ),
  pairlist: resource(
    "/api/v1/pairlist",
    "Pairs that a trading bot may open now, in the form that freqtrade's RemotePairList reads.",
    Pairlist,
  ),
  healthz: {
    path: "/healthz",
    summary: "Whether the process is running.",
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
 * Finished flares, single flares, tokens and the track record. They need a history: see
 * `addHistoryRoutes`.
 */
export const HISTORY_ENDPOINTS = {
  flare: {
    ...resource("/api/v1/flares/{id}", "One flare, running or finished, with its explanations.", FlareRecord),
    problems: NAMED_PROBLEMS,
  },
  history: resource(
    "/api/v1/history",
    "Finished flares with their explanations, newest finish first.",
    HistoryResponse,
  ),
  token: {
    ...resource(
      "/api/v1/tokens/{group}/{token}",
      "One token: facts, place in chart and leaderboard, a day of candles, and its flares.",
      TokenDetails,
    ),
    problems: NAMED_PROBLEMS,
  },
  record: resource(
    "/api/v1/record",
    "What prices did after flares, compared with other moments of the same tokens.",
    TrackRecord,
  ),
} as const satisfies Record<string, Endpoint>;

/**
 * Events as JSON or SSE; 204 if none arrives while a poll waits. Needs a hub: see `registerEvents`.
 */
export const EVENTS_ENDPOINT = {
  path: "/api/v1/events",
  summary:
    "Events after a cursor, as JSON with an optional wait (long poll), or as server-sent events (SSE).",
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

/** Tickets for connections that cannot send header fields: see `registerTickets`. */
export const TICKETS_ENDPOINT = {
  path: "/api/v1/tickets",
  summary: "Creates a ticket, which opens one connection with the rights of a key.",
  schema: TicketResponse,
  conditional: false,
  alsoAtRoot: false,
  problems: [
    "invalid-parameter",
    "unauthorized",
    "origin-refused",
    "not-found",
    "over-capacity",
    "not-ready",
  ],
} as const satisfies Endpoint;

/** Path of the WebSocket, relative to the base path, as in `Link`. */
export const STREAM_PATH = "/api/v1/stream";

/** WebSocket for freqtrade's consumers; freqtrade sets the path. */
export const PRODUCER_PATH = "/api/v1/message/ws";

/** Problems that refuse a WebSocket while it is still HTTP, in addition to those of any path. */
export const STREAM_PROBLEMS = [
  "invalid-parameter",
  "unknown-channel",
  "unsupported-version",
  "unauthorized",
  "forbidden",
  "origin-refused",
  "upgrade-required",
  "not-ready",
  "draining",
] as const satisfies readonly ErrorCode[];

/** Problems of any path: invalid requests, exceeded limits and internal errors. */
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

function page(path: string, summary: string) {
  return { path, type: "text/html", summary };
}

/** Documents about the API: GET, HEAD and OPTIONS, an entity tag, no data. */
export const DOCUMENTS = {
  openapi: { path: "/openapi.json", type: "application/json", summary: "The REST API as OpenAPI 3.1." },
  asyncapi: { path: "/asyncapi.json", type: "application/json", summary: "The events as AsyncAPI 3.0." },
  docs: page("/docs", "The REST API, to read and try in a browser."),
  docsEvents: page("/docs/events", "Events and messages, to read and try."),
  docsProtocol: page("/docs/protocol", "The normative protocol specification."),
  docsGuides: page("/docs/guides", "The guides for this version."),
  docsSearch: {
    path: "/docs/search.json",
    type: "application/json",
    summary: "What the documents' search finds: title, page, address and words of each entry.",
  },
  llms: {
    path: "/llms.txt",
    type: "text/plain",
    summary: "An introduction for language models, with links to the documents.",
  },
  docsScript: { path: "/docs/page.js", type: "text/javascript", summary: "The script of the pages." },
  docsStyle: { path: "/docs/page.css", type: "text/css", summary: "The style sheet of the pages." },
} as const;
