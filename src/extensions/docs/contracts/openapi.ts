import { VERSION } from "../../../base/lib/version.ts";
import {
  ANY_PROBLEMS,
  DOCUMENTS,
  ENDPOINTS,
  type Endpoint,
  EVENTS_ENDPOINT,
  HISTORY_ENDPOINTS,
  PRODUCER_PATH,
  STREAM_PATH,
  STREAM_PROBLEMS,
  TICKETS_ENDPOINT,
} from "../../../gateway/http/endpoints.ts";
import { METRICS_PATH } from "../../../gateway/http/metrics-route.ts";
import {
  AT_PARAMETER,
  CONDITIONAL_PARAMETERS,
  EVENTS_PARAMETERS,
  FLARE_ID,
  GROUP_PARAMETER,
  HISTORY_PARAMETERS,
  PAIR_PARAMETERS,
  type ParameterContract,
  PRODUCER_PARAMETERS,
  RANKING_PARAMETERS,
  RECORD_PARAMETERS,
  STREAM_PARAMETERS,
  TOKEN_PATH,
} from "../../../gateway/http/parameters.ts";
import { BODY_EXAMPLES } from "./examples.ts";
import { EXCHANGE_FLARES } from "./exchange-examples.ts";
import { FRESHNESS_HEADERS, HEADERS, type HeaderName, headerRefs, KEY_HEADERS } from "./headers.ts";
import { ProblemResponses, type ResponseContract } from "./problem-responses.ts";
import { namedSchemas, pascal, referredTo, refTo } from "./schemas.ts";

/** An operation of OpenAPI, reduced to the fields used here. */
export interface OperationContract {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly ParameterContract[];
  readonly responses: Readonly<Record<string, ResponseContract | { readonly $ref: string }>>;
}

export type OpenApiDocument = ReturnType<typeof createOpenApi>;

type PathContract = Readonly<Partial<Record<"get" | "head" | "post" | "options", OperationContract>>>;

const DESCRIPTION = [
  "Which tokens are flaring, why, and when they stop. Read-only. A key is needed only if the server requires one; on a server with keys, `pro` needs a key of that plan.",
  "",
  "* Every resource has a strong `ETag` that changes only with its content. With `If-None-Match`, the server answers 304 without a body if the resource has not changed.",
  "* `Flarewire-Cursor` is the log position of a response. A stream that continues after it misses nothing, or states what is lost.",
  "* Every error is `application/problem+json` (RFC 9457) with a stable `type`. Below `/api`, the server rejects unknown query parameters and suggests the nearest known name.",
  "* Responses are compressed with gzip or Brotli for clients that accept it.",
].join("\n");

const RESOURCE_PARAMETERS: Readonly<Partial<Record<ResourceName, readonly ParameterContract[]>>> = {
  flares: [GROUP_PARAMETER],
  snapshot: [GROUP_PARAMETER],
  charts: RANKING_PARAMETERS,
  leaderboards: RANKING_PARAMETERS,
  pairlist: PAIR_PARAMETERS,
  flare: [FLARE_ID],
  history: HISTORY_PARAMETERS,
  token: TOKEN_PATH,
  record: RECORD_PARAMETERS,
};

/** Creates the OpenAPI 3.1 document of all HTTP paths. `basePath`: as in the settings. */
export function createOpenApi(basePath: string) {
  const problems = new ProblemResponses();
  const endpoints = Object.entries({ ...ENDPOINTS, ...HISTORY_ENDPOINTS }) as [ResourceName, Endpoint][];
  const paths: Readonly<Record<string, PathContract>> = Object.fromEntries([
    ...endpoints.map(([name, endpoint]) => [endpoint.path, resource(name, endpoint, problems)]),
    [EVENTS_ENDPOINT.path, events(problems)],
    [STREAM_PATH, upgrade("stream", STREAM, STREAM_PARAMETERS, problems)],
    [PRODUCER_PATH, upgrade("producer", PRODUCER, PRODUCER_PARAMETERS, problems)],
    [TICKETS_ENDPOINT.path, tickets(problems)],
    [METRICS_PATH, metrics(problems)],
    ...Object.entries(DOCUMENTS).map(([name, document]) => [
      document.path,
      documentPath(name, document, problems),
    ]),
  ]);
  const responses = problems.components();
  return {
    openapi: "3.1.1",
    info: {
      title: "Flarewire",
      version: VERSION,
      summary: "Token trend data with a real-time push gateway.",
      description: DESCRIPTION,
      license: { name: "MIT", identifier: "MIT" },
    },
    externalDocs: { description: "Events and messages", url: `${basePath}${DOCUMENTS.docsEvents.path}` },
    servers: [{ url: basePath || "/", description: "This server" }],
    security: [{}, { key: [] }],
    tags: [
      { name: "resources", description: "The current state of the market." },
      { name: "events", description: "The changes, as they happen." },
      { name: "probes", description: "Health, readiness and metrics, for operators." },
      { name: "documents", description: "This documentation." },
    ],
    paths,
    components: {
      schemas: referredTo(namedSchemas("draft-2020-12"), [paths, responses]),
      responses,
      headers: HEADERS,
      securitySchemes: {
        key: {
          type: "http",
          scheme: "bearer",
          description: "`Authorization: Bearer KEY`, if the server uses keys.",
        },
      },
    },
  };
}

function resource(
  name: ResourceName,
  { summary, conditional, problems: own, alsoAtRoot }: Endpoint,
  problems: ProblemResponses,
) {
  const parameters = RESOURCE_PARAMETERS[name] ?? [];
  const isTimed = own.includes("time-gone");
  const headers: readonly HeaderName[] = conditional
    ? [
        ...(isTimed ? (["Flarewire-At"] as const) : []),
        ...(name === "history" ? (["Flarewire-Stored-Since"] as const) : []),
        "ETag",
        "Cache-Control",
        "Vary",
        "Link",
        "Flarewire-Cursor",
        ...FRESHNESS_HEADERS,
        ...KEY_HEADERS,
      ]
    : ["Cache-Control", ...(name === "readyz" ? FRESHNESS_HEADERS : [])];
  const example = BODY_EXAMPLES[name];
  const examples = { examples: { bsc: { value: example }, exchange: { value: EXCHANGE_FLARES } } };
  const ok: ResponseContract = {
    description: summary,
    headers: headerRefs(headers),
    content: {
      "application/json": {
        schema: refTo(SCHEMA_NAMES[name] ?? pascal(name)),
        ...(name === "flares" ? examples : { example }),
      },
    },
  };
  return operations(name, {
    tags: [alsoAtRoot ? "probes" : "resources"],
    summary,
    ...(alsoAtRoot ? { description: "With a base path, also served at the root." } : {}),
    ...(conditional
      ? { parameters: [...(isTimed ? [AT_PARAMETER] : []), ...parameters, ...CONDITIONAL_PARAMETERS] }
      : {}),
    responses: {
      "200": ok,
      ...(conditional
        ? { "304": { description: "Your copy is up to date.", headers: headerRefs(headers) } }
        : {}),
      ...problems.of([...ANY_PROBLEMS, ...own]),
    },
  });
}

function events(problems: ProblemResponses) {
  const headers = headerRefs([
    "Flarewire-Cursor",
    "Cache-Control",
    "Vary",
    "Link",
    ...FRESHNESS_HEADERS,
    ...KEY_HEADERS,
  ]);
  return operations("events", {
    tags: ["events"],
    summary: EVENTS_ENDPOINT.summary,
    description:
      "A request for `text/event-stream`, as from an `EventSource`, gets a stream; its messages are in `/asyncapi.json`. Any other request gets one JSON response with the stored events after `after`. If there are none, `wait` waits for the next.",
    parameters: EVENTS_PARAMETERS,
    responses: {
      "200": {
        description: "The events, in order; or the stream.",
        headers,
        content: {
          "application/json": { schema: refTo("EventsResponse"), example: BODY_EXAMPLES.events },
          "text/event-stream": {
            schema: {
              type: "string",
              description: "Server-sent events; `data` is a message of `/asyncapi.json`.",
            },
            example: `event: flare-started\nid: ${BODY_EXAMPLES.events.cursor}\ndata: ${JSON.stringify(BODY_EXAMPLES.events.events[0])}\n\n`,
          },
        },
      },
      "204": { description: "No event during the wait: continue after `Flarewire-Cursor`.", headers },
      ...problems.of([...ANY_PROBLEMS, ...EVENTS_ENDPOINT.problems]),
    },
  });
}

const STREAM = {
  summary: "The WebSocket: events after a snapshot or after a cursor.",
  description:
    "Messages and close codes are in `/asyncapi.json`. The subprotocol is `flarewire.v1`; offering none means the same.",
  /** Description of the response that accepts the handshake. */
  accepted: "The connection becomes a WebSocket; the server first sends `hello`.",
};

const PRODUCER: typeof STREAM = {
  summary: "The WebSocket of a freqtrade producer: the pairs, at every change.",
  description:
    'For freqtrade\'s `external_message_consumer`. A client sends `{"type":"subscribe","data":["whitelist"]}` for the pairs at every change, and `{"type":"whitelist"}` for the current pairs. They arrive as `{"type":"whitelist","data":["BTC/USDT"]}`; if there are none, as `["NONE/NONE"]`, because freqtrade ignores an empty list. Other requests are ignored.',
  accepted: "The connection becomes a WebSocket; the server waits for requests.",
};

function upgrade(
  name: string,
  { accepted, ...text }: typeof STREAM,
  parameters: readonly ParameterContract[],
  problems: ProblemResponses,
) {
  const { get, options } = operations(name, {
    tags: ["events"],
    ...text,
    parameters,
    responses: {
      "101": { description: accepted, headers: headerRefs(["Upgrade"]) },
      ...problems.of([...ANY_PROBLEMS, ...STREAM_PROBLEMS]),
    },
  });
  return {
    get,
    options: { ...options, responses: { ...options.responses, "204": allowed("GET, OPTIONS") } },
  };
}

function tickets(problems: ProblemResponses) {
  return {
    post: {
      operationId: "postTickets",
      tags: ["events"],
      summary: TICKETS_ENDPOINT.summary,
      description:
        "For an `EventSource` or a browser's `WebSocket`, which cannot send the key: `?ticket=` opens one stream.",
      responses: {
        "201": {
          description: "The ticket.",
          headers: headerRefs(["Cache-Control", ...KEY_HEADERS]),
          content: {
            "application/json": { schema: refTo("TicketResponse"), example: BODY_EXAMPLES.tickets },
          },
        },
        ...problems.of([...ANY_PROBLEMS, ...TICKETS_ENDPOINT.problems]),
      },
    },
    options: {
      operationId: "optionsTickets",
      tags: ["events"],
      summary: "The supported methods, and the response to a browser's preflight.",
      responses: { "204": allowed("POST, OPTIONS") },
    },
  };
}

function metrics(problems: ProblemResponses) {
  return operations("metrics", {
    tags: ["probes"],
    summary: "The gateway's metrics for Prometheus, unless turned off.",
    responses: {
      "200": {
        description: "The metrics.",
        headers: headerRefs(["Cache-Control"]),
        content: { "text/plain": { schema: { type: "string" } } },
      },
      ...problems.of(ANY_PROBLEMS),
    },
  });
}

function documentPath(
  name: string,
  { type, summary }: { type: string; summary: string },
  problems: ProblemResponses,
) {
  const isPage = type === "text/html";
  const headers = headerRefs([
    "ETag",
    "Cache-Control",
    "Vary",
    ...(isPage ? (["Content-Security-Policy"] as const) : []),
  ]);
  return operations(name, {
    tags: ["documents"],
    summary,
    parameters: CONDITIONAL_PARAMETERS,
    responses: {
      "200": {
        description: summary,
        headers,
        content: { [type]: { schema: { type: type === "application/json" ? "object" : "string" } } },
      },
      "304": { description: "Your copy is up to date.", headers },
      ...problems.of(ANY_PROBLEMS),
    },
  });
}

function operations(name: string, operation: Omit<OperationContract, "operationId">) {
  const id = pascal(name);
  const { tags, parameters, responses, summary } = operation;
  const bare = Object.entries(responses).map(([status, response]) => {
    if ("$ref" in response) return [status, response];
    const { content: _content, ...rest } = response;
    return [status, rest];
  });
  return {
    get: { operationId: `get${id}`, ...operation },
    head: {
      operationId: `head${id}`,
      tags,
      summary: `Headers only: ${summary}`,
      ...(parameters ? { parameters } : {}),
      responses: Object.fromEntries(bare) as OperationContract["responses"],
    },
    options: {
      operationId: `options${id}`,
      tags,
      summary: "The supported methods, and the response to a browser's preflight.",
      responses: { "204": allowed("GET, HEAD, OPTIONS") },
    },
  };
}

function allowed(methods: string): ResponseContract {
  return { description: `The methods: ${methods}.`, headers: headerRefs(["Allow"]) };
}

type ResourceName = keyof typeof ENDPOINTS | keyof typeof HISTORY_ENDPOINTS;

const SCHEMA_NAMES: Readonly<Partial<Record<ResourceName, string>>> = {
  flare: "FlareRecord",
  history: "HistoryResponse",
  record: "TrackRecord",
  token: "TokenDetails",
  snapshot: "SnapshotResponse",
  healthz: "HealthResponse",
  readyz: "ReadyResponse",
};
