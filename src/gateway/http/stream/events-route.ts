import type { IncomingMessage } from "node:http";
import type { Writable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import {
  CLOSE_CODES,
  type CloseReason,
  compileFilter,
  FlarewireError,
  type Freshness,
  formatCursor,
  type SourceInfo,
} from "../../../base/protocol/index.ts";
import {
  type Claimant,
  type Head,
  LongPoll,
  OLDEST,
  type PollAnswer,
  type PollQuery,
  sseFraming,
} from "../../hub/index.ts";
import type { EventLog } from "../../log/event-log.ts";
import { type Access, type AccessPolicy, allowAll, CHALLENGE } from "../access/access.ts";
import {
  acquireSlot,
  admitConnection,
  checkHub,
  checkOrigin,
  claimantOf,
  setRetryAfter,
} from "../connections/admission.ts";
import { AdmissionQueue } from "../connections/admission-queue.ts";
import { ignore } from "../connections/intake.ts";
import { leaveHttp } from "../connections/node-internals.ts";
import { FLARE_STARTED } from "../contract/example-market.ts";
import { EVENTS_PATH, SNAPSHOT_PATH } from "../contract/paths.ts";
import {
  FRESHNESS_HEADERS,
  HEADERS,
  type HeaderName,
  KEY_HEADERS,
  PAGE_CACHING,
} from "../contract/response-headers.ts";
import type { RouteContract } from "../contract/route-contract.ts";
import { invalid } from "../problems/invalid.ts";
import { setFreshness } from "../rest/freshness-fields.ts";
import { EventsResponse } from "../rest/responses.ts";
import { asksForSse, EVENTS_QUERY, readPollQuery, readSseQuery } from "./events-query.ts";
import { SseSocket } from "./sse-socket.ts";
import { readClientId } from "./stream-query.ts";
import type { WebSocketOptions } from "./websocket-route.ts";

/**
 * This route shares the limits and the admission queue with WebSockets. A poll counts as a
 * connection until it is answered.
 */
interface EventsOptions extends Omit<WebSocketOptions, "compression"> {
  readonly log: EventLog;
  readonly head: Head;
  readonly freshness: () => Freshness;
  readonly info: () => SourceInfo;
  /** Returns [0, 1), to spread reconnects. Default Math.random. */
  readonly random?: () => number;
}

/** Browsers reconnect after a random delay between this and twice this. */
const RETRY_MS = 1_000;

/**
 * Forbids compression, which would delay events, and buffering by proxies. The end of the
 * connection ends the body.
 */
const SSE_FIELDS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
  connection: "close",
} as const;

const FIELDS: readonly HeaderName[] = [
  "Flarewire-Cursor",
  "Cache-Control",
  "Vary",
  "Link",
  ...FRESHNESS_HEADERS,
  ...KEY_HEADERS,
];

export const EVENTS_ROUTE: RouteContract<typeof EVENTS_QUERY> = {
  name: "events",
  path: EVENTS_PATH,
  method: "GET",
  tag: "events",
  summary:
    "Events after a cursor, as JSON with an optional wait (long poll), or as server-sent events (SSE).",
  description:
    "A request for `text/event-stream` gets a stream: see `/asyncapi.json`. Any other gets the stored events after `after`. If there are none, `wait` waits for the next.",
  query: EVENTS_QUERY,
  headers: {
    "Last-Event-ID": {
      schema: z.string().max(64),
      description:
        "Server-sent events: the cursor, which a browser sends on reconnecting. Unless empty, it overrides `after`.",
      example: HEADERS["Flarewire-Cursor"].example,
    },
  },
  channels: [],
  responses: {
    200: {
      description: "The events, in order; or the stream.",
      headers: FIELDS,
      content: {
        "application/json": {
          schema: EventsResponse,
          example: {
            cursor: FLARE_STARTED.cursor,
            events: [FLARE_STARTED],
            more: false,
          } satisfies EventsResponse,
        },
        "text/event-stream": {
          schema: z.string().describe("Server-sent events; `data` is a message of `/asyncapi.json`."),
          example: `event: flare-started\nid: ${FLARE_STARTED.cursor}\ndata: {"type":"event", …}\n\n`,
        },
      },
    },
    204: {
      description: "No event during the wait: continue after `Flarewire-Cursor`.",
      headers: FIELDS,
    },
  },
  problems: [
    ...(["invalid-parameter", "unknown-channel", "unauthorized", "forbidden"] as const),
    ...(["origin-refused", "cursor-gone", "not-ready", "draining"] as const),
  ],
};

/** Serves `/api/v1/events`: a stream if `text/event-stream` is accepted, else a page as JSON. */
export function registerEvents(app: FastifyInstance, options: EventsOptions): void {
  const { policy = allowAll, hub, clock, admissions = new AdmissionQueue({ hub, clock }) } = options;
  const { history, stopping, limits, turn } = hub;
  const { aheadWaitMs } = limits;
  const mayLackEvents = () => hub.mayLackEvents;
  const polls = new LongPoll({ ...options, history, stopping, turn, aheadWaitMs, mayLackEvents });
  app.route({
    method: ["GET", "HEAD"],
    url: EVENTS_ROUTE.path,
    config: { contract: EVENTS_ROUTE },
    handler: async (request, reply) => {
      const vary = reply.getHeader("vary");
      const varies = policy.isKeyed ? "Accept, Authorization" : "Accept";
      reply.header("vary", vary === undefined ? varies : `${varies}, ${vary}`);
      try {
        checkOrigin(request.headers.origin, options.allowedOrigins);
        const by = await claimantOf(policy, request);
        // Polls wait in the same queue: reading missed events costs as much as for a stream.
        return await admissions.admit({ by, socket: request.raw.socket, isUpgraded: false }, () =>
          asksForSse(request.headers.accept)
            ? follow(request, reply, { ...options, policy })
            : poll(request, reply, { ...options, policy, polls, by, prefix: app.prefix }),
        );
      } catch (error) {
        if (error instanceof FlarewireError) setRetryAfter(reply, error.code, options.random);
        throw error;
      }
    },
  });
}

type WithPolicy = EventsOptions & { readonly policy: AccessPolicy };

async function follow(
  request: FastifyRequest,
  reply: FastifyReply,
  options: WithPolicy,
): Promise<FastifyReply> {
  const { hub, registry, policy, random = Math.random } = options;
  const access = await policy.admitStream(request, reply);
  const query = readSseQuery(request.query, lastEventId(request), access);
  readClientId(request.query);
  checkHub(hub);
  if (request.method === "HEAD") return reply.headers(SSE_FIELDS).send();
  const { socket } = request.raw;
  await admitConnection({ registry, audit: policy.audit }, request, reply, access);
  // If the client has disconnected meanwhile, the close event releases its slot.
  if (socket.destroyed) return reply.hijack();
  // No timeout: heartbeats keep the connection active, and the hub closes clients that do not read.
  socket.setTimeout(0);
  reply.headers(SSE_FIELDS).hijack();
  const out = startResponse(request.raw, reply);
  if (!out.writable) return reply;
  const connection = new SseSocket(out, socket);
  socket.cork();
  try {
    out.write(`retry: ${RETRY_MS + Math.floor(random() * RETRY_MS)}\n\n`);
    const session = hub.connect(connection, sseFraming, query, access);
    connection.attach(session);
    registry.slotOf(socket)?.attach(session);
  } finally {
    socket.uncork();
  }
  return reply;
}

/** Starts the response. Returns the connection or, if it cannot be detached, the response. */
function startResponse(request: IncomingMessage, reply: FastifyReply): Writable {
  const { raw: response } = reply;
  const { socket } = request;
  const fields = flatFields(reply.getHeaders());
  if (!leaveHttp(request)) return response.writeHead(200, fields).on("error", ignore);
  socket.on("error", ignore);
  // The end of the connection ends this body, so it must not be chunked (RFC 9112, 6.3).
  response.removeHeader("transfer-encoding");
  response.writeHead(200, fields).flushHeaders();
  response.detachSocket(socket);
  return socket;
}

/** Flattens the fields into a list, so that the open response does not keep them in memory. */
function flatFields(fields: ReturnType<FastifyReply["getHeaders"]>): string[] {
  return Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [name, String(value)],
  );
}

function lastEventId({ headers }: FastifyRequest): string | undefined {
  const field = headers["last-event-id"];
  return typeof field === "string" ? field : undefined;
}

type Page = Extract<PollAnswer, { kind: "page" }>;

interface PollContext extends WithPolicy {
  readonly polls: LongPoll;
  readonly by: Claimant;
  readonly prefix: string;
}

async function poll(
  request: FastifyRequest,
  reply: FastifyReply,
  context: PollContext,
): Promise<FastifyReply> {
  const { hub, freshness, info, prefix, policy, clock, allowedOrigins } = context;
  const access = policy.admit(request, reply);
  const query = readPollQuery(request.query, access);
  if ((query.afterMs ?? 0) > clock.now()) throw invalid("after", query.after, "a time that has passed");
  checkHub(hub);
  const answer = await waitForEvents(request, reply, { query, access }, context);
  const isOpen = request.headers.authorization === undefined && allowedOrigins?.includes("*") !== false;
  const isAfterCursor = query.after !== OLDEST && query.afterMs === undefined;
  // Its bytes never change, so it must not state how fresh the data was.
  const isClosed = isOpen && isAfterCursor && answer.kind === "page" && answer.more;
  if (!isClosed) setFreshness(reply, freshness(), info());
  if (answer.kind === "lost") {
    const { reason, events } = answer.lost;
    reply.header("link", `<${prefix}${SNAPSHOT_PATH}>; rel="current"; title="snapshot"`);
    const message = `after is "${query.after}" (${reason}); ${lossText(events)} lost; get the current lists and their cursor from ${prefix}${SNAPSHOT_PATH}`;
    throw new FlarewireError("cursor-gone", message, { field: "after", lost: answer.lost });
  }
  const cursor = formatCursor(answer.cursor);
  const isAwaited = answer.kind === "page" && answer.count > 0 && query.waitMs > 0;
  const kind = isClosed ? "closed" : isAwaited ? "awaited" : "open";
  reply.headers({ "flarewire-cursor": cursor, "cache-control": isOpen ? PAGE_CACHING[kind] : "no-store" });
  if (answer.kind === "nothing") return reply.code(204).send();
  if (answer.more) reply.header("link", `<${nextPage(request, prefix, cursor)}>; rel="next"`);
  const body = bodies.get(answer) ?? bodyOf(answer, query);
  bodies.set(answer, body);
  reply.headers({ "content-type": "application/json; charset=utf-8", "content-length": `${body.length}` });
  return request.method === "HEAD" ? reply.send() : reply.send(body);
}

/** The bodies of pages, which polls may share. */
const bodies = new WeakMap<Page, Buffer>();

function bodyOf({ cursor, bytes, more, snapshot }: Page, query: PollQuery): Buffer {
  const filter = compileFilter(query.filter);
  const inForce = filter ? `"filter":${JSON.stringify(filter.inForce)},` : "";
  const begin = Buffer.from(`{"cursor":"${formatCursor(cursor)}",${inForce}"events":[`);
  const lists = snapshot ? [Buffer.from(',"snapshot":'), snapshot] : [];
  return Buffer.concat([begin, bytes, Buffer.from(`],"more":${more}`), ...lists, Buffer.from("}")]);
}

function lossText(events: number | null): string {
  if (events === null) return "an unknown number of events is";
  return events === 1 ? "at most one event is" : `at most ${events} events are`;
}

async function waitForEvents(
  request: FastifyRequest,
  reply: FastifyReply,
  { query, access }: { readonly query: PollQuery; readonly access: Access },
  { polls, registry, by }: PollContext,
): Promise<PollAnswer> {
  const gone = new AbortController();
  const pollQuery = request.method === "HEAD" ? { ...query, waitMs: 0 } : query;
  let ended: CloseReason | undefined;
  const release = acquireSlot(registry, request, access, (reason) => {
    ended = reason;
    gone.abort();
  });
  whenOver(request, reply, () => {
    // Without a reason, it would create an error for each poll.
    gone.abort("over");
    release();
  });
  const answer = await polls.take(pollQuery, gone.signal, by);
  if (ended !== undefined) throw errorOfRevokedKey(ended, reply);
  return answer;
}

/** Calls `over` once, when the response is sent or the connection closes. */
function whenOver({ raw: { socket } }: FastifyRequest, { raw }: FastifyReply, over: () => void): void {
  let isOver = false;
  const end = () => {
    // When the socket closes, Node closes the response first, which calls `end`. Removing `end`
    // from the socket is then too late: the socket's emit of `close` has already copied its
    // listeners.
    if (isOver) return;
    isOver = true;
    raw.off("close", end);
    socket.off("close", end);
    over();
  };
  raw.once("close", end);
  socket.once("close", end);
  if (socket.destroyed) end();
}

function errorOfRevokedKey(reason: CloseReason, reply: FastifyReply): FlarewireError {
  const { meaning } = CLOSE_CODES[reason];
  if (reason === "forbidden") return new FlarewireError("forbidden", meaning);
  reply.header("www-authenticate", CHALLENGE);
  return new FlarewireError("unauthorized", meaning, { field: "Authorization" });
}

function nextPage({ url }: FastifyRequest, prefix: string, cursor: string): string {
  const parameters = new URLSearchParams(url.split("?")[1]);
  parameters.set("after", cursor);
  return `${prefix}${EVENTS_PATH}?${parameters}`;
}
