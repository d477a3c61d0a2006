import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Queue } from "../../support/time/waiters.ts";
import { SAMPLE_FLARE } from "../../support/world/samples.ts";

/** Lists without flares, for `flares.pro`. */
export const NOTHING = { flares: { pro: [] }, explanations: {} };
export const HELLO = { type: "hello", silence_limit_ms: 35_000 };

/** An event that changes no list. */
export function statusEvent(seq: number, prev = seq - 1) {
  const data = { state: "live", reason: "" };
  return eventMessage(seq, prev, { name: "source-status", channel: "status", data });
}

/** A change of `flares.pro` by the event of this name. */
export function flareEvent(seq: number, name: string, data: object, prev = seq - 1) {
  return eventMessage(seq, prev, { name, channel: "flares.pro", data });
}

/** The insert of a flare with this id. */
export function inserted(id: string) {
  return { op: "insert", index: 0, cause: "detected", flare: { ...SAMPLE_FLARE, id }, why: null };
}

function eventMessage(seq: number, prev: number, body: object) {
  const at = "2017-11-12T08:21:00.000Z";
  const position = { cursor: `abcd-${seq}`, seq, prev, batch: seq };
  return { type: "event", ...position, emitted_at: at, observed_at: at, ...body };
}

/** A heartbeat at this position. */
export function heartbeat(seq: number) {
  const freshness = { state: "stale", reason: "", observed_at: null, last_success_at: null, data_age_ms: 1 };
  return { type: "heartbeat", cursor: `abcd-${seq}`, server_time: "", positions: {}, freshness };
}

/** Anything that a server sends. */
interface Message {
  readonly type: string;
  readonly cursor?: string;
  readonly [field: string]: unknown;
}

/** A request for events, and how the test responds. */
export interface EventsRequest {
  readonly query: URLSearchParams;
  readonly response: ServerResponse;
  /** Responds with JSON, or without a body. */
  respond(status: number, cursor: string | undefined, body?: object): void;
  /** Sends server-sent events. The first call also sends the headers. */
  stream(...messages: readonly Message[]): void;
}

/** Starts a server whose responses the test writes. */
export async function startScriptedEvents() {
  const arrived = new Queue<EventsRequest>("a request");
  const server = createServer(({ url = "/" }, response) => {
    arrived.push({
      query: new URL(url, "http://x").searchParams,
      response,
      respond: (status, cursor, body) => {
        const headers = cursor === undefined ? {} : { "Flarewire-Cursor": cursor };
        const type = status < 400 ? "application/json" : "application/problem+json";
        response.writeHead(status, { ...headers, "Content-Type": type });
        response.end(body && JSON.stringify(body));
      },
      stream: (...messages) => {
        if (!response.headersSent) response.writeHead(200, { "Content-Type": "text/event-stream" });
        for (const message of messages)
          response.write(`id: ${message.cursor ?? ""}\ndata: ${JSON.stringify(message)}\n\n`);
      },
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    next: () => arrived.next(),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
