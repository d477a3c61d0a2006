import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { assertNever } from "../../../src/base/lib/assert-never.ts";
import type { Chance } from "../../support/random/chance.ts";
import { reset } from "../../support/servers/reset.ts";

/** Kinds of connections, by transport and behavior. */
export const WAYS = [
  "websocket",
  "websocket that is filtered",
  "websocket that is compressed, resumes and sends commands",
  "websocket that replaces its own connection",
  "stream",
  "stream that is filtered",
  "stream that resumes",
  "stream with a ticket",
  "stream with a pipelined request",
  "poll that waits",
  "half a request",
  "rejected request",
] as const;
export type Way = (typeof WAYS)[number];

/** The data that a visitor needs to connect. */
interface Target {
  readonly port: number;
  /** A recent cursor of the server. */
  readonly cursor: string;
  readonly ticket: string;
}

/** Number of client ids, so that visitors often replace each other's connections. */
const CLIENT_IDS = 20;
const WEBSOCKET =
  "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
const DEFLATE = "Sec-WebSocket-Extensions: permessage-deflate; client_no_context_takeover\r\n";
const STREAM = "Accept: text/event-stream\r\n";
const NO_MASK = [0, 0, 0, 0];
const CLOSE_FRAME = Buffer.from([0x88, 0x82, ...NO_MASK, 0x03, 0xe8]);

function textFrame(command: unknown): Buffer {
  const text = Buffer.from(JSON.stringify(command));
  return Buffer.concat([Buffer.from([0x81, 0x80 | text.length, ...NO_MASK]), text]);
}

/** One connection, from its own address, that stays for a while and ends in one of several ways. */
export class Visitor {
  readonly way: Way;
  /**
   * Resolves when the first response has arrived or the connection has ended. Without a response to
   * expect, it resolves when the request was sent.
   */
  readonly arrived: Promise<unknown>;
  readonly #socket: Socket;
  readonly #closed: Promise<void>;
  readonly #chance: Chance;

  constructor(way: Way, target: Target, chance: Chance) {
    this.way = way;
    this.#chance = chance;
    this.#socket = connect(target.port, "127.0.0.1");
    this.#closed = new Promise((resolve) => this.#socket.once("close", () => resolve()));
    this.#socket.on("error", () => {});
    const address = `2001:db8:${chance.whole(0, 9_999)}:${chance.whole(0, 9_999)}::1`;
    const [path, fields] = requestOf(way, target, chance);
    this.#socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${address}\r\n${fields}`);
    const isSilent = way === "poll that waits" || way === "half a request";
    const started = once(this.#socket, isSilent ? "connect" : "data").catch(() => {});
    this.arrived = Promise.race([started, this.#closed]).then(() => this.#act());
  }

  /** Ends the connection in a random way. */
  leave(): void {
    if (this.#chance.happens(0.3)) reset(this.#socket);
    else if (this.way.startsWith("websocket") && this.#chance.happens(0.7)) this.#socket.write(CLOSE_FRAME);
    else this.#socket.end();
  }

  #act(): void {
    this.#socket.resume();
    if (this.way === "websocket that is compressed, resumes and sends commands") {
      for (const id of [1, 2]) this.#socket.write(textFrame({ type: "ping", id }));
      this.#socket.write(textFrame({ type: "unsubscribe", id: "none" }));
    }
    if (this.way === "stream with a pipelined request")
      this.#socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  }
}

/** Returns the path, and the text after the first header fields. */
function requestOf(
  way: Way,
  { cursor, ticket }: Target,
  chance: Chance,
): readonly [path: string, rest: string] {
  const token = `0x${chance
    .whole(0, 2 ** 32)
    .toString(16)
    .padStart(40, "0")}`;
  switch (way) {
    case "websocket":
      return ["/api/v1/stream?channels=*", `${WEBSOCKET}\r\n`];
    case "websocket that is filtered":
      return [`/api/v1/stream?channels=newest.bsc&tokens=${token}`, `${WEBSOCKET}\r\n`];
    case "websocket that is compressed, resumes and sends commands":
      return [`/api/v1/stream?channels=*&after=${cursor}&mode=latest`, `${WEBSOCKET}${DEFLATE}\r\n`];
    case "websocket that replaces its own connection":
      return [`/api/v1/stream?channels=*&client=visitor-${chance.whole(0, CLIENT_IDS)}`, `${WEBSOCKET}\r\n`];
    case "stream":
    case "stream with a pipelined request":
      return ["/api/v1/events", `${STREAM}\r\n`];
    case "stream that is filtered":
      return [
        `/api/v1/events?channels=newest.bsc&tokens=${token}&min_liquidity=${chance.whole(1, 9_999)}`,
        `${STREAM}\r\n`,
      ];
    case "stream that resumes":
      return ["/api/v1/events", `${STREAM}Last-Event-ID: ${cursor}\r\n\r\n`];
    case "stream with a ticket":
      return [`/api/v1/events?channels=newest.bsc&ticket=${ticket}`, `${STREAM}\r\n`];
    case "poll that waits":
      return [`/api/v1/events?after=${cursor}&wait=60&channels=flares.finished`, "\r\n"];
    case "half a request":
      return ["/api/v1/events", STREAM];
    case "rejected request":
      return [`/api/v1/stream?channels=nothing-${token}`, `${WEBSOCKET}\r\n`];
    default:
      return assertNever(way);
  }
}
