import { VERSION } from "../../lib/version.ts";
import {
  ANY_PROBLEMS,
  DOCUMENTS,
  ENDPOINTS,
  type Endpoint,
  EVENTS_ENDPOINT,
  STREAM_PATH,
  STREAM_PROBLEMS,
  TICKETS_ENDPOINT,
} from "../endpoints.ts";
import { METRICS_PATH } from "../metrics-route.ts";
import { BODY_EXAMPLES } from "./examples.ts";
import { FRESHNESS_HEADERS, HEADERS, type HeaderName, KEY_HEADERS } from "./headers.ts";
import {
  CONDITIONAL_PARAMETERS,
  EVENTS_PARAMETERS,
  type ParameterContract,
  STREAM_PARAMETERS,
} from "./parameters.ts";
import { ProblemResponses, type ResponseContract } from "./problem-responses.ts";
import { type JsonSchema, namedSchemas, referredTo, refTo } from "./schemas.ts";

/** An operation of OpenAPI, as far as it is used here. */
export interface OperationContract {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly ParameterContract[];
  readonly responses: Readonly<Record<string, ResponseContract | { readonly $ref: string }>>;
}

/** The document, as far as it is used here. */
export interface OpenApiDocument {
  readonly [field: string]: unknown;
  readonly info: {
    readonly [field: string]: unknown;
    readonly title: string;
    readonly version: string;
    readonly summary: string;
    readonly description: string;
  };
  readonly paths: Readonly<
    Record<string, Readonly<Partial<Record<"get" | "head" | "post" | "options", OperationContract>>>>
  >;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly responses: Readonly<Record<string, ResponseContract>>;
    readonly headers: Readonly<Record<string, object>>;
    readonly securitySchemes: Readonly<Record<string, object>>;
  };
}

const DESCRIPTION = [
  "Which tokens are flaring, why, and when they stop. Read-only. No key is needed, unless the server says so; with one, where it knows keys, `pro` is there too.",
  "",
  "* Every resource has a strong `ETag` of its own last change: ask again with `If-None-Match`, and what did not change costs a 304 without a body.",
  "* `Flarewire-Cursor` is the place in the log that an answer is of. A stream that goes on behind it misses nothing.",
  "* Every error is `application/problem+json` (RFC 9457) with a stable `type`. Below `/api`, unknown query parameters are refused with the nearest known name.",
  "* Answers come in gzip or Brotli for whoever accepts it.",
].join("\n");

/** The resources, events over HTTP, probes and documents as OpenAPI 3.1; `basePath` as in the settings. */
export function createOpenApi(basePath: string): OpenApiDocument {
  const problems = new ProblemResponses();
  const endpoints = Object.entries(ENDPOINTS) as [keyof typeof ENDPOINTS, Endpoint][];
  const paths = Object.fromEntries([
    ...endpoints.map(([name, endpoint]) => [endpoint.path, resource(name, endpoint, problems)]),
    [EVENTS_ENDPOINT.path, events(problems)],
    [STREAM_PATH, stream(problems)],
    [TICKETS_ENDPOINT.path, tickets(problems)],
    [METRICS_PATH, metrics(problems)],
    ...Object.entries(DOCUMENTS).map(([name, document]) => [
      document.path,
      documentPath(name, document, problems),
    ]),
  ]);
  const headers = Object.fromEntries(Object.entries(HEADERS).map(([name, header]) => [name, { ...header }]));
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
      { name: "resources", description: "The state of the market, as it is now." },
      { name: "events", description: "What changes it, as it happens." },
      { name: "probes", description: "For whoever runs it." },
      { name: "documents", description: "What you are reading." },
    ],
    paths,
    components: {
      schemas: referredTo(namedSchemas("draft-2020-12"), [paths, responses]),
      responses,
      headers,
      securitySchemes: {
        key: {
          type: "http",
          scheme: "bearer",
          description: "`Authorization: Bearer KEY`, where the server knows keys.",
        },
      },
    },
  };
}

function resource(
  name: keyof typeof ENDPOINTS,
  { summary, conditional, problems: own, alsoAtRoot }: Endpoint,
  problems: ProblemResponses,
) {
  const headers: readonly HeaderName[] = conditional
    ? ["ETag", "Cache-Control", "Vary", "Link", "Flarewire-Cursor", ...FRESHNESS_HEADERS, ...KEY_HEADERS]
    : ["Cache-Control", ...(name === "readyz" ? FRESHNESS_HEADERS : [])];
  const ok: ResponseContract = {
    description: summary,
    headers: headerRefs(headers),
    content: { "application/json": { schema: refTo(schemaName(name)), example: BODY_EXAMPLES[name] } },
  };
  return operations(name, {
    tags: [alsoAtRoot ? "probes" : "resources"],
    summary,
    ...(alsoAtRoot ? { description: "Served at the root too, where there is a base path." } : {}),
    ...(conditional ? { parameters: CONDITIONAL_PARAMETERS } : {}),
    responses: {
      "200": ok,
      ...(conditional
        ? { "304": { description: "What you hold is the newest.", headers: headerRefs(headers) } }
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
      "Who asks for `text/event-stream` by name, as an `EventSource` does, gets a stream that lasts; its messages are in `/asyncapi.json`. Everybody else gets one answer in JSON: the events that are held behind `after`, or, with `wait`, the next that comes.",
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
              description: "Events as HTML defines them; `data` is a message of `/asyncapi.json`.",
            },
            example: `event: flare-started\nid: ${BODY_EXAMPLES.events.cursor}\ndata: ${JSON.stringify(BODY_EXAMPLES.events.events[0])}\n\n`,
          },
        },
      },
      "204": { description: "The wait brought nothing: ask again behind `Flarewire-Cursor`.", headers },
      ...problems.of([...ANY_PROBLEMS, ...EVENTS_ENDPOINT.problems]),
    },
  });
}

function stream(problems: ProblemResponses) {
  const { get, options } = operations("stream", {
    tags: ["events"],
    summary: "The WebSocket: events after a snapshot or after a cursor.",
    description:
      "Messages and close codes are in `/asyncapi.json`. The subprotocol is `flarewire.v1`; none offered means the same.",
    parameters: STREAM_PARAMETERS,
    responses: {
      "101": {
        description: "From here on it is a WebSocket; the server says `hello` first.",
        headers: headerRefs(["Upgrade"]),
      },
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
      summary: "Which methods are taken; what a browser's preflight asks.",
      responses: { "204": allowed("POST, OPTIONS") },
    },
  };
}

function metrics(problems: ProblemResponses) {
  return operations("metrics", {
    tags: ["probes"],
    summary: "The gateway's own numbers, for Prometheus, while the setting is on.",
    responses: {
      "200": {
        description: "The numbers.",
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
      "304": { description: "What you hold is the newest.", headers },
      ...problems.of(ANY_PROBLEMS),
    },
  });
}

/** GET as it is given, HEAD without bodies, and OPTIONS. */
function operations(name: string, operation: Omit<OperationContract, "operationId">) {
  const id = name.slice(0, 1).toUpperCase() + name.slice(1);
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
      summary: `Header fields only: ${summary}`,
      ...(parameters ? { parameters } : {}),
      responses: Object.fromEntries(bare) as OperationContract["responses"],
    },
    options: {
      operationId: `options${id}`,
      tags,
      summary: "Which methods are taken; what a browser's preflight asks.",
      responses: { "204": allowed("GET, HEAD, OPTIONS") },
    },
  };
}

function allowed(methods: string): ResponseContract {
  return { description: `The methods: ${methods}.`, headers: headerRefs(["Allow"]) };
}

function headerRefs(names: readonly HeaderName[]): NonNullable<ResponseContract["headers"]> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** The name of the schema of an endpoint's body. */
function schemaName(name: keyof typeof ENDPOINTS): string {
  const names = { snapshot: "SnapshotResponse", healthz: "HealthResponse", readyz: "ReadyResponse" } as const;
  return name in names ? names[name as keyof typeof names] : name.slice(0, 1).toUpperCase() + name.slice(1);
}
