import { type IncomingMessage, ServerResponse } from "node:http";
import type { FastifyInstance } from "fastify";
import { systemClock } from "../../lib/time/clock.ts";
import type { HostCheck } from "../access/host-check.ts";
import type { Visitors } from "../access/visitors.ts";
import type { ReadyAnswer } from "./ready-answer.ts";
import type { ReadyFields } from "./ready-fields.ts";

/** What an address answers to a plain request. `undefined`, or an error: not now, and the framework's route says why. */
export type QuickAnswer = (request: IncomingMessage) => ReadyAnswer | undefined;

const STATUS_LINES = { 200: "HTTP/1.1 200 OK\r\n", 304: "HTTP/1.1 304 Not Modified\r\n" } as const;

/**
 * Answers plain requests for ready bytes before the framework sees them, byte for byte as it would: routing, hooks and reply cost more than all the rest of such an
 * answer. Plain is a GET or HEAD of exactly a path that was added, on a connection that stays open, with nothing in it to decide on: no query, no
 * body, no key. Every other request is the framework's, and so is everything while the server closes.
 */
export class QuickPath {
  readonly #app: FastifyInstance;
  readonly #answers = new Map<string, QuickAnswer>();
  readonly #common: (origin: string | undefined) => ReadyFields;
  readonly #checkHost: HostCheck;
  readonly #visitors: Pick<Visitors, "takes">;
  readonly #tail = createTail();
  readonly #ready: () => boolean;
  #open = true;

  /**
   * `common`: the fields of every answer to a page of this origin. `ready`: see HttpServerOptions; while it is false connections are told to close, which is the framework's
   * to do. For a server of our own only: nobody else's hooks are run.
   */
  constructor(
    app: FastifyInstance,
    common: (origin: string | undefined) => ReadyFields,
    checkHost: HostCheck,
    visitors: Pick<Visitors, "takes">,
    ready: () => boolean = () => true,
  ) {
    this.#app = app;
    this.#common = common;
    this.#checkHost = checkHost;
    this.#visitors = visitors;
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

  /** Answers requests for `path`, which the framework has to have a route for all the same. */
  add(path: string, answer: QuickAnswer): void {
    this.#answers.set(path, answer);
  }

  #take(request: IncomingMessage, response: ServerResponse): boolean {
    const answer = this.#answers.get(request.url ?? "");
    if (!answer || !this.#open || !this.#ready() || !isPlain(request) || !staysOpen(response)) return false;
    const ready = this.#checkHost(request) ? undefined : attempt(answer, request);
    if (!ready || !this.#visitors.takes(request, ready.body?.length ?? 0)) return false;
    const { status, fields, body } = ready;
    let head: string = STATUS_LINES[status] + this.#common(request.headers.origin).lines;
    for (const { lines } of fields) head += lines;
    response.statusCode = status;
    // Node's `writeHead` looks through each field of each response again, which for a score of them takes a third of the time of all of it. This is the text that it would make
    // of them, put where it would put it, for which there is no public name.
    Reflect.set(response, "_header", head + this.#tail(this.#app.server.keepAliveTimeout));
    if (body) response.end(body);
    else response.end();
    return true;
  }
}

function attempt(answer: QuickAnswer, request: IncomingMessage): ReadyAnswer | undefined {
  try {
    return answer(request);
  } catch {
    // The route meets it too, and there it is logged and becomes a problem.
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

/** True for a response of Node's own class, not begun yet, whose connection goes on after it. */
function staysOpen(response: ServerResponse): boolean {
  return (
    response.shouldKeepAlive &&
    // Behind an answer that is not sent yet it is held back, which is the framework's to do.
    response.socket !== null &&
    Object.getPrototypeOf(response) === ServerResponse.prototype &&
    Reflect.get(response, "_header") === null
  );
}

/** What Node puts behind the other fields, and the end of the head; made anew each second. */
function createTail(): (keepAliveTimeoutMs: number) => string {
  let second = Number.NaN;
  let tail = "";
  return (keepAliveTimeoutMs) => {
    // Not the gateway's clock: Node stamps the other answers with the machine's.
    const now = Math.floor(systemClock.now() / 1_000);
    if (now !== second) {
      second = now;
      const date = new Date(second * 1_000).toUTCString();
      const keepAlive =
        keepAliveTimeoutMs > 0 ? `Keep-Alive: timeout=${Math.floor(keepAliveTimeoutMs / 1_000)}\r\n` : "";
      tail = `Date: ${date}\r\nConnection: keep-alive\r\n${keepAlive}\r\n`;
    }
    return tail;
  };
}
