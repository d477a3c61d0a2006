import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import { test as base } from "vitest";
import { type ClientOptions, WebSocket } from "ws";
import { systemClock } from "../../../../src/base/lib/time/clock.ts";
import { addMeRoute } from "../../../../src/extensions/access/me-route.ts";
import { addTicketsRoute } from "../../../../src/extensions/access/tickets-route.ts";
import type { HistoryReader } from "../../../../src/extensions/history/index.ts";
import { Consumers } from "../../../../src/extensions/pairlist/consumers.ts";
import { addProducerRoute, PRODUCER_ROUTE } from "../../../../src/extensions/pairlist/producer-route.ts";
import type { HttpSettings } from "../../../../src/gateway/http/http-settings.ts";
import {
  AdmissionQueue,
  type AdmissionQueueLimits,
  allowAll,
  ConnectionLimiter,
  ConnectionRegistry,
  createHttpServer,
  registerEvents,
} from "../../../../src/gateway/http/index.ts";
import {
  registerWebSocket,
  type SocketRoute,
  type WebSocketOptions,
} from "../../../../src/gateway/http/stream/websocket-route.ts";
import { checkMessage } from "../../../support/expect/contract.ts";
import { withExtensions } from "../../../support/servers/with-extensions.ts";
import { eventually, Waiters } from "../../../support/time/waiters.ts";
import {
  createHubUnderTest,
  FRESH,
  type HubFactory,
  type HubUnderTest,
  INFO,
} from "../../hub/hub-fixture.ts";
import type { Message } from "../../hub/mock-socket.ts";

/** A client of the `ws` package on a real connection. Checks every message against the contract. */
export class WireClient {
  readonly ws: WebSocket;
  readonly messages: Message[] = [];
  /** Code and reason of the end; -1 if there was no connection. */
  readonly ended: Promise<{ readonly code: number; readonly reason: string }>;
  /** Errors of the connection that the client's library reported. */
  readonly errors: Error[] = [];
  #end: object | undefined;
  readonly #waiters = new Waiters(() => [this.#end ?? "open", ...this.errors, ...this.messages.slice(-3)]);

  constructor(url: string, protocols: string | readonly string[] = [], options: ClientOptions = {}) {
    this.ws = new WebSocket(url, [protocols].flat(), options);
    this.ws.on("message", (data) => {
      const message: Message = JSON.parse(String(data));
      checkMessage(message);
      this.messages.push(message);
      this.#waiters.look();
    });
    this.ws.on("error", (error) => this.errors.push(error));
    this.ended = once(this.ws, "close").then(([code, reason]) => {
      const end = { code, reason: String(reason) };
      this.#end = end;
      return end;
    });
    // A test may abandon this wait, which must not fail the whole run.
    this.ended.catch(() => undefined);
  }

  send(command: unknown): void {
    this.ws.send(JSON.stringify(command));
  }

  /**
   * Returns the first message of this type as soon as it arrives; with `id`, the response with it.
   */
  async answer(type: string, id?: unknown): Promise<Message> {
    const find = () =>
      this.messages.find((message) => message.type === type && (id === undefined || message.id === id));
    const what = id === undefined ? type : `${type} of ${JSON.stringify(id)}`;
    await this.#waiters.until(() => find() !== undefined, what);
    return find() ?? { type: "nothing" };
  }

  /** Seqs of the events so far. */
  get seqs(): readonly unknown[] {
    return this.messages.filter(({ type }) => type === "event").map(({ seq }) => seq);
  }

  /** Resolves once `check` returns true. It is called after each message. */
  until(check: () => boolean): Promise<void> {
    return this.#waiters.until(check);
  }
}

/** A gateway's stream on a real port, over a hub whose clock the test moves. */
export interface ConnectionHandle extends HubUnderTest {
  readonly app: FastifyInstance;
  readonly port: number;
  /** Opens a connection; `query` begins with `?`. */
  client(query?: string, protocols?: string | readonly string[], options?: ClientOptions): WireClient;
  /**
   * Opens a connection after the handshake, whose frames the test builds and reads itself. It may
   * stay open after the server's end.
   */
  raw(query?: string): Promise<Socket>;
  /** Sends one plain request with these header fields. */
  ask(
    path: string,
    headers?: Record<string, string>,
    method?: string,
  ): Promise<{ message: IncomingMessage; body: string }>;
  /** The server's sockets of the open connections. */
  sockets(): readonly Socket[];
  /** Resolves when this many sessions exist. */
  sessions(count: number): Promise<void>;
}

export type WireFactory = (
  options?: Parameters<HubFactory>[0] & {
    readonly stream?: Partial<WebSocketOptions> & {
      /** Limits of the registry, unless one is given. */
      readonly limits?: { readonly maxSockets?: number; readonly maxSocketsPerIp?: number };
    };
    /** Limits of the queue, which uses the machine's clock. */
    readonly admissions?: Partial<AdmissionQueueLimits>;
    readonly basePath?: string;
    readonly trustProxy?: readonly string[];
    readonly http?: Partial<HttpSettings>;
    /** How many connections to serve in a turn: see createIntake. */
    readonly perTurn?: () => number;
    /** Default: no history. */
    readonly history?: HistoryReader;
  },
) => Promise<ConnectionHandle>;

/** `Retry-After` of a refused stream: 3 to 12 seconds, at random. */
export const COME_BACK_S = /^([3-9]|1[0-2])$/;

/** Header fields of a valid handshake. */
export const HANDSHAKE = {
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-version": "13",
  "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
};

/** Returns the raw request for a stream. */
export function handshake(path: string): string {
  const fields = Object.entries({ host: "127.0.0.1", ...HANDSHAKE }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return `GET ${path} HTTP/1.1\r\n${fields.join("")}\r\n`;
}

async function createWire(options: Parameters<WireFactory>[0] = {}): Promise<ConnectionHandle> {
  const sut = createHubUnderTest(options);
  const app = await createHttpServer(
    withExtensions({
      head: sut.head,
      freshness: () => FRESH,
      info: () => INFO,
      clock: systemClock,
      history: options.history,
      policy: options.stream?.policy,
      ...(options.perTurn && { perTurn: options.perTurn }),
      settings: {
        basePath: options.basePath ?? "",
        ...(options.trustProxy ? { trustProxy: options.trustProxy } : {}),
        ...options.http,
      },
      register: async ({ app: scope, visitors }) => {
        const { maxSockets = 10_000, maxSocketsPerIp = 100 } = options.stream?.limits ?? {};
        const { registry = new ConnectionRegistry(new ConnectionLimiter(maxSockets, maxSocketsPerIp)) } =
          options.stream ?? {};
        const admissions = new AdmissionQueue({
          hub: sut.hub,
          clock: systemClock,
          limits: options.admissions,
        });
        // Most tests are about plain messages, and inflating would take most of their time.
        const shared = { ...sut, admissions, compression: false, ...options.stream, registry };
        const consumers = new Consumers({ hub: sut.hub, clock: systemClock });
        const producer: SocketRoute = {
          path: PRODUCER_ROUTE.path,
          add: (own, parts) => addProducerRoute(own, consumers, parts),
          stop: () => consumers.stop(),
        };
        await registerWebSocket(scope, { ...shared, sockets: [producer] });
        registerEvents(scope, { ...shared, freshness: () => FRESH, info: () => INFO });
        const policy = options.stream?.policy ?? allowAll;
        const { limiter } = registry;
        addMeRoute(
          { app: scope, visitors },
          { ...sut, policy, limiter, freshness: () => FRESH, info: () => INFO },
        );
        await addTicketsRoute(scope, { ...options.stream, policy });
      },
    }),
  );
  const sockets = new Set<Socket>();
  app.server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = app.server.address() as AddressInfo;
  return Object.assign(sut, {
    app,
    port,
    client: (query = "", protocols: string | readonly string[] = [], settings: ClientOptions = {}) =>
      new WireClient(
        `ws://127.0.0.1:${port}${options.basePath ?? ""}/api/v1/stream${query}`,
        protocols,
        settings,
      ),
    raw: async (query = "") => {
      const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
      socket.write(handshake(`${options.basePath ?? ""}/api/v1/stream${query}`));
      await once(socket, "data");
      return socket;
    },
    ask: async (path: string, headers: Record<string, string> = {}, method = "GET") => {
      const outgoing = request({ host: "127.0.0.1", port, path, headers, method, agent: false }).end();
      const [message] = (await once(outgoing, "response")) as [IncomingMessage];
      const chunks: Buffer[] = await message.toArray();
      return { message, body: Buffer.concat(chunks).toString() };
    },
    sockets: () => [...sockets],
    sessions: async (count: number) => {
      await eventually(
        () => sut.hub.size === count,
        () => sut.hub.size,
        { what: `${count} sessions` },
      );
    },
  });
}

/**
 * {@link test} with `makeWire`, and `wire`: one with the defaults. Closes everything after the
 * test, which fails on faults that it did not remove from `errors`.
 */
export const test = base.extend<{ makeWire: WireFactory; wire: ConnectionHandle }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a pattern.
  makeWire: async ({}, use) => {
    const made: ConnectionHandle[] = [];
    await use(async (options) => {
      const created = await createWire(options);
      made.push(created);
      return created;
    });
    for (const { app, clock } of made) {
      // Clients that the test left frozen do not answer the close frame, so the grace period must
      // pass on the hub's clock.
      const passing = setInterval(() => clock.advance(500), 5);
      await app.close();
      clearInterval(passing);
    }
    const faults = made.flatMap(({ errors }) => errors);
    if (faults.length > 0) throw new AggregateError(faults, "the hub reported faults");
  },
  wire: async ({ makeWire }, use) => use(await makeWire()),
});

/** {@link test} with servers that compress for clients that offer it. */
export const compressedTest = test.extend<{ makeWire: WireFactory }>({
  makeWire: ({ makeWire }, use) =>
    use((options) => makeWire({ ...options, stream: { compression: true, ...options?.stream } })),
});
