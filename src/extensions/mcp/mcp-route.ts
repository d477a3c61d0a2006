import { setImmediate as turn } from "node:timers/promises";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { FlarewireError } from "../../base/protocol/index.ts";
import type { RequestApi } from "./market-api.ts";

/** Path of the endpoint, relative to the base path. */
const MCP_PATH = "/mcp";

/** Header fields that decide what a client may read. The tools' requests carry them too. */
const FORWARDED = ["authorization", "host", "x-forwarded-for", "x-forwarded-proto"] as const;
const MAX_BODY_BYTES = 65_536;
/** A call takes as much of the processor as this many small responses, besides those it reads. */
const CALL_COST = 8;

interface McpOptions {
  /** Throws if pages of this origin may not connect to this host. */
  checkOrigin(origin: string | undefined, host: string | undefined): void;
  /** Resolves when the client's work may continue. */
  pause(request: FastifyRequest): Promise<void>;
}

/**
 * `POST /mcp`: the Model Context Protocol over HTTP, without sessions. Each tool requests the REST
 * API of this server with the client's key, so that the same rights and limits apply.
 */
export async function registerMcp(app: FastifyInstance, { checkOrigin, pause }: McpOptions): Promise<void> {
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
    const answer = async (request: FastifyRequest, reply: FastifyReply) => {
      const { headers, body } = request;
      checkOrigin(headers.origin, headers.host);
      reply.header("cache-control", "no-store");
      if (isBatch(body)) return reply.code(400).send(NO_BATCHES);
      const handler = await createHandler(inside(scope, request, pause));
      await pause(request);
      const left = new AbortController();
      reply.raw.once("close", () => left.abort());
      const response = await handler.fetch(webRequest(request, left.signal));
      reply.code(response.status);
      for (const [name, value] of response.headers) if (name !== "content-length") reply.header(name, value);
      return reply.send(Buffer.from(await response.arrayBuffer()));
    };
    const config = { contract: { query: {}, cost: CALL_COST }, bodyLimitBytes: MAX_BODY_BYTES };
    const method = ["POST", "GET", "DELETE"];
    const common = { method, bodyLimit: MAX_BODY_BYTES, handler: answer };
    scope.route({ ...common, url: MCP_PATH, config });
    scope.route({ ...common, url: `${MCP_PATH}/`, config: { ...config, contract: { cost: CALL_COST } } });
  });
}

/** The protocol has had no batches since 2025-06-18. One would run all of its calls in one turn. */
const NO_BATCHES = {
  jsonrpc: "2.0",
  error: { code: -32_600, message: "Batches are not supported: send one message per request." },
  id: null,
};

/** Whether a body is a JSON array. */
function isBatch(body: unknown): boolean {
  return Buffer.isBuffer(body) && body.toString().trimStart().startsWith("[");
}

/**
 * Loads the protocol at its first use: most servers do not need it, and start faster without. Each
 * part of it is a turn of its own.
 */
async function createHandler(api: RequestApi) {
  try {
    const { createMcpHandler } = await import("@modelcontextprotocol/server");
    await turn();
    const { createMcpServer } = await import("./mcp-server.ts");
    await turn();
    return createMcpHandler(() => createMcpServer(api));
  } catch (cause) {
    const message = "a clone that was installed without development dependencies has no tools for agents";
    throw new FlarewireError("not-found", message, { cause });
  }
}

/** Requests this server's own REST API on behalf of the calling client. */
function inside(scope: FastifyInstance, request: FastifyRequest, pause: McpOptions["pause"]): RequestApi {
  const { headers, socket } = request;
  const forwarded = FORWARDED.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]]));
  return async (path, signal) => {
    const answer = await scope.inject({
      method: "GET",
      url: `${scope.prefix}${path}`,
      headers: Object.fromEntries(forwarded),
      remoteAddress: socket.remoteAddress ?? "127.0.0.1",
      signal,
    });
    // Calls that wait for the same body would all read it in one turn.
    await pause(request);
    const header = (name: string) => answer.headers[name]?.toString();
    return { status: answer.statusCode, header, text: answer.payload };
  };
}

/**
 * Converts a request for the protocol's handler. The URL is fixed: the handler does not read it,
 * and a client's `Host` may be invalid in a URL.
 */
function webRequest({ method, headers, body }: FastifyRequest, signal: AbortSignal): Request {
  const fields = new Headers();
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined && name !== "content-length") fields.set(name, value.toString());
  // The handler requires both forms by name. A field that excludes neither accepts both.
  if (/(^|,)\s*\*\/\*\s*(;|,|$)/.test(headers.accept ?? "*/*"))
    fields.set("accept", "application/json, text/event-stream");
  const sent = Buffer.isBuffer(body) && method === "POST" ? { body: new Uint8Array(body) } : {};
  return new Request(`http://localhost${MCP_PATH}`, { method, headers: fields, signal, ...sent });
}
