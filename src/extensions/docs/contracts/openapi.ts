import { VERSION } from "../../../base/lib/version.ts";
import {
  ANY_PROBLEMS,
  HEADERS,
  type HeaderContract,
  type HeaderName,
  type RouteContract,
  type RouteResponse,
  TAGS,
} from "../../../gateway/http/index.ts";
import { DOCUMENTS } from "../site/documents.ts";
import { type ParameterContract, parametersOf } from "./parameters.ts";
import { headerRefs, ProblemResponses, type ResponseContract } from "./problem-responses.ts";
import { type ContractSchemas, createSchemas, pascal, referredTo } from "./schemas.ts";

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
].join("\n");

/**
 * Creates the OpenAPI 3.1 document of the routes with these contracts. `basePath`: as in the
 * settings. `address`: the server's URL with the base path, for tools that know no other.
 * `schemas`: those of the routes, which a caller may create in an earlier turn.
 */
export function createOpenApi(
  basePath: string,
  contracts: Iterable<RouteContract>,
  address?: string,
  schemas: ContractSchemas = createSchemas("draft-2020-12", inOrder(contracts)),
) {
  const routes = inOrder(contracts);
  const problems = new ProblemResponses();
  const paths: Readonly<Record<string, PathContract>> = Object.fromEntries(
    routes.map((route) => [route.path, operations(route, schemas, problems)]),
  );
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
    servers: openApiServers(basePath, address),
    security: [{}, { key: [] }],
    tags: TAGS,
    paths,
    components: {
      schemas: referredTo(schemas.named, [paths, responses]),
      responses,
      headers: usedHeaders([paths, responses]),
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

/** Returns the part of the document that names the server. Parameters: as for `createOpenApi`. */
export function openApiServers(basePath: string, address = basePath || "/") {
  return [{ url: address, description: "This server" }];
}

/** Sorts contracts by kind, else as they were added. */
export function inOrder(contracts: Iterable<RouteContract>): readonly RouteContract[] {
  return TAGS.flatMap(({ name }) => [...contracts].filter(({ tag }) => tag === name));
}

/** Describes the operations at a route's path. HEAD has the responses of GET, without bodies. */
function operations(
  route: RouteContract,
  schemas: ContractSchemas,
  problems: ProblemResponses,
): PathContract {
  const { name, method, tag, summary, description, problems: own } = route;
  const id = pascal(name);
  const tags = [tag];
  // A request that one of these tools makes gets JSON. For streams, AsyncAPI has the others.
  const { params = {}, query = {} } = route;
  const asked = Object.fromEntries(Object.entries(query).filter(([, { only }]) => only !== "streams"));
  const shared = {
    tags,
    ...listed(parametersOf(101 in route.responses ? route : { ...route, query: asked }, schemas)),
  };
  const failures = problems.of([...ANY_PROBLEMS, ...own]);
  const responses = (isBare: boolean) => ({
    ...Object.fromEntries(
      Object.entries(route.responses).map(([status, one]) => [status, responseOf(one, schemas, isBare)]),
    ),
    ...failures,
  });
  const main: OperationContract = {
    operationId: `${method.toLowerCase()}${id}`,
    ...shared,
    summary,
    ...(description === undefined ? {} : { description }),
    responses: responses(false),
  };
  const options = (methods: string): OperationContract => ({
    operationId: `options${id}`,
    tags,
    ...listed(parametersOf({ params }, schemas)),
    summary: "The supported methods, and the response to a browser's preflight.",
    responses: { "204": { description: `The methods: ${methods}.`, headers: headerRefs(["Allow"]) } },
  });
  if (method === "POST") return { post: main, options: options("POST, OPTIONS") };
  if (101 in route.responses) return { get: main, options: options("GET, OPTIONS") };
  return {
    get: main,
    head: {
      operationId: `head${id}`,
      ...shared,
      summary: `Headers only: ${summary}`,
      responses: responses(true),
    },
    options: options("GET, HEAD, OPTIONS"),
  };
}

function listed(parameters: readonly ParameterContract[]): Pick<OperationContract, "parameters"> {
  return parameters.length > 0 ? { parameters } : {};
}

function responseOf(
  { description, headers, content }: RouteResponse,
  schemas: ContractSchemas,
  isBare: boolean,
): ResponseContract {
  const bodies = Object.entries(content ?? {}).map(([type, { schema, example, examples }]) => [
    type,
    {
      schema: schemas.of(schema),
      ...(example === undefined ? {} : { example }),
      ...(examples ? { examples: namedExamples(examples) } : {}),
    },
  ]);
  return {
    description,
    ...(headers.length > 0 ? { headers: headerRefs(headers) } : {}),
    ...(content && !isBare ? { content: Object.fromEntries(bodies) } : {}),
  };
}

function namedExamples(examples: Readonly<Record<string, unknown>>) {
  return Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { value }]));
}

function usedHeaders(document: unknown): Readonly<Record<string, HeaderContract>> {
  const text = JSON.stringify(document);
  const isUsed = (name: string) => text.includes(`"#/components/headers/${name}"`);
  const all: Readonly<Record<HeaderName, HeaderContract>> = HEADERS;
  return Object.fromEntries(Object.entries(all).filter(([name]) => isUsed(name)));
}
