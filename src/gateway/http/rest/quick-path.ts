import { type IncomingMessage, ServerResponse } from "node:http";
import type { FastifyInstance } from "fastify";
import { systemClock } from "../../../base/lib/time/clock.ts";
import type { HostCheck } from "../access/host-check.ts";
import type { Visitors } from "../access/visitors.ts";
import { hasNoHead, setHead } from "../connections/node-internals.ts";
import type { ResponseCounts } from "../response-counts.ts";
import type { ReadyAnswer } from "./ready-answer.ts";
import type { ReadyFields } from "./ready-fields.ts";

/** Returns the response to a plain request; `undefined` if the framework's route must answer it. */
type QuickAnswer = (request: IncomingMessage) => ReadyAnswer | undefined;

interface QuickRoute {
  /** The framework's path of the route, with placeholders. */
  readonly route: string;
  readonly answer: QuickAnswer;
}

const STATUS_LINES = { 200: "HTTP/1.1 200 OK\r\n", 304: "HTTP/1.1 304 Not Modified\r\n" } as const;

/**
 * Answers plain requests with prepared bytes, because the framework costs more than the rest of a
 * response. Plain: HTTP/1.1 GET or HEAD of a registered path, on a connection that stays open,
 * without body or key. The framework gets all other requests, also those above a limit, and
 * everything while the server closes.
 */
export class QuickPath {
  readonly #app: FastifyInstance;
  readonly #routes = new Map<string, QuickRoute>();
  readonly #below: (readonly [prefix: string, route: QuickRoute])[] = [];
  readonly #common: (origin: string | undefined) => ReadyFields;
  readonly #checkHost: HostCheck;
  readonly #visitors: Pick<Visitors, "take">;
  readonly #responses: ResponseCounts;
  readonly #lastFields = createLastFields();
  readonly #ready: () => boolean;
  #open = true;

  /**
   * For our own server only, because the hooks of a host would not run. `common`: fields for a
   * page's origin; `ready`: see HttpServerOptions. While it returns false, the framework answers,
   * and closes the connection.
   */
  constructor(
    app: FastifyInstance,
    common: (origin: string | undefined) => ReadyFields,
    checkHost: HostCheck,
    visitors: Pick<Visitors, "take">,
    responses: ResponseCounts,
    ready: () => boolean = () => true,
  ) {
    this.#app = app;
    this.#common = common;
    this.#checkHost = checkHost;
    this.#visitors = visitors;
    this.#responses = responses;
    this.#ready = ready;
    app.server.off("request", app.routing);
    app.server.on("request", (request: IncomingMessage, response: ServerResponse) => {
      if (!this.#take(request, response)) app.routing(request, response);
    });
    app.addHook("preClose", (done) => {
      this.#open = false;
      done();
    });
  }

  /** Answers requests for `path` with any query. The framework must have a route for it, too. */
  add(path: string, answer: QuickAnswer): void {
    this.#routes.set(path, { route: path, answer });
  }

  /** Like `add`, for all paths that begin with `prefix`; `route`: their path in the framework. */
  addBelow(prefix: string, route: string, answer: QuickAnswer): void {
    this.#below.push([prefix, { route, answer }]);
  }

  #routeOf({ url = "" }: IncomingMessage): QuickRoute | undefined {
    const queryAt = url.indexOf("?");
    return (
      this.#routes.get(queryAt < 0 ? url : url.slice(0, queryAt)) ??
      this.#below.find(([prefix]) => url.startsWith(prefix))?.[1]
    );
  }

  #take(request: IncomingMessage, response: ServerResponse): boolean {
    const found = this.#routeOf(request);
    if (!found || !this.#open || !this.#ready() || !isPlain(request) || !staysOpen(response)) return false;
    const ready = this.#checkHost(request) ? undefined : attempt(found.answer, request);
    if (!ready || !this.#visitors.take(request, ready.body?.length ?? 0)) return false;
    const { status, fields, body } = ready;
    let head: string = STATUS_LINES[status] + this.#common(request.headers.origin).lines;
    for (const { lines } of fields) head += lines;
    this.#responses.count(found.route, status);
    response.statusCode = status;
    setHead(response, head + this.#lastFields(this.#app.server.keepAliveTimeout));
    if (body) response.end(body);
    else response.end();
    return true;
  }
}

function attempt(answer: QuickAnswer, request: IncomingMessage): ReadyAnswer | undefined {
  try {
    return answer(request);
  } catch {
    // The route will fail too, log the error and turn it into a problem.
    return undefined;
  }
}

function isPlain({ method, headers, httpVersionMinor }: IncomingMessage): boolean {
  return (
    (method === "GET" || method === "HEAD") &&
    httpVersionMinor === 1 &&
    headers.host !== undefined &&
    headers.authorization === undefined &&
    headers["content-length"] === undefined &&
    headers["transfer-encoding"] === undefined
  );
}

/** True for an unused response of Node's own class whose connection stays open. */
function staysOpen(response: ServerResponse): boolean {
  return (
    response.shouldKeepAlive &&
    // Without a socket, an earlier response is not finished. The framework makes the request wait.
    response.socket !== null &&
    Object.getPrototypeOf(response) === ServerResponse.prototype &&
    hasNoHead(response)
  );
}

/**
 * Creates a function that returns the fields that Node would append, and the end of the head.
 * Renews them each second.
 */
function createLastFields(): (keepAliveTimeoutMs: number) => string {
  let second = Number.NaN;
  let fields = "";
  return (keepAliveTimeoutMs) => {
    // Not the gateway's clock, because Node stamps other responses with the machine's.
    const now = Math.floor(systemClock.now() / 1_000);
    if (now !== second) {
      second = now;
      const date = new Date(second * 1_000).toUTCString();
      const keepAlive =
        keepAliveTimeoutMs > 0 ? `Keep-Alive: timeout=${Math.floor(keepAliveTimeoutMs / 1_000)}\r\n` : "";
      fields = `Date: ${date}\r\nConnection: keep-alive\r\n${keepAlive}\r\n`;
    }
    return fields;
  };
}
