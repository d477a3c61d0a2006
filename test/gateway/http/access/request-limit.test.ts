import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { connect, type Socket } from "node:net";
import { type FastifyBaseLogger, fastify } from "fastify";
import { pino } from "pino";
import { describe, expect } from "vitest";
import { z } from "zod";
import { BYTES_PER_REQUEST } from "../../../../src/gateway/http/access/request-limit.ts";
import { addHostRoutes } from "../../../../src/gateway/http/host-routes.ts";
import { type HttpSettings, Refusals } from "../../../../src/gateway/http/index.ts";
import type { RouteScope } from "../../../../src/gateway/http/server.ts";
import { validateResponse } from "../../../support/expect/validate-response.ts";
import { ManualClock } from "../../../support/time/manual-clock.ts";
import { eventually } from "../../../support/time/waiters.ts";
import { SAMPLE_SNAPSHOT } from "../../../support/world/samples.ts";
import { FRESH, HandHead, INFO, type RestFactory, test } from "../rest/rest-fixture.ts";

/** Starts a server with these limits. Returns it with its log lines and refusals. */
async function bounded(makeRest: RestFactory, settings: Partial<HttpSettings>, more: object = {}) {
  const lines: Record<string, unknown>[] = [];
  const logger: FastifyBaseLogger = pino(
    { level: "warn" },
    { write: (line) => lines.push(JSON.parse(line)) },
  );
  const clock = new ManualClock();
  const refusals = new Refusals(clock, logger);
  const rest = await makeRest({ settings, logger, refusals, clock, ...more });
  const port = Number(new URL(await rest.app.listen({ host: "127.0.0.1", port: 0 })).port);
  return { ...rest, clock, port, lines, refusals };
}

/** Opens a connection, sends one request on it, and leaves it idle. */
async function idle(port: number, localAddress: string): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1", localAddress });
  socket.on("error", () => {});
  socket.write("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await once(socket, "data");
  return socket;
}

/** Sends a request on its own connection. Returns the response, checked against the contract. */
async function ask(
  port: number,
  localAddress: string,
  path = "/healthz",
  headers: Record<string, string> = {},
) {
  const asked = request({ port, host: "127.0.0.1", localAddress, path, headers, agent: false }).end();
  const [message] = (await once(asked, "response")) as [IncomingMessage];
  const body = Buffer.concat(await message.toArray());
  const status = message.statusCode ?? 0;
  validateResponse("GET", path, { status, headers: message.headers, body });
  return { status, headers: message.headers, problem: status < 400 ? undefined : JSON.parse(String(body)) };
}

describe("[W33] connections of any kind are limited", () => {
  test("per address: one more is refused with the reason, logged and counted, and other addresses are served", async ({
    makeRest,
  }) => {
    const { port, lines, refusals } = await bounded(makeRest, { maxConnectionsPerAddress: 2 });
    const held = [await idle(port, "127.0.0.2"), await idle(port, "127.0.0.2")];
    for (let again = 0; again < 3; again++) {
      const refused = await ask(port, "127.0.0.2");
      expect(refused.status).toBe(503);
      expect(refused.problem).toMatchObject({
        type: "urn:flarewire:problem:over-capacity",
        bound: "2 from one address",
      });
      expect(Number(refused.headers["retry-after"])).toBeGreaterThanOrEqual(3);
    }
    expect((await ask(port, "127.0.0.3")).status).toBe(200);
    expect(refusals.counts).toEqual({ "connections-of-address": 3 });
    expect(lines).toMatchObject([{ reason: "connections-of-address", refused: 1, latest: "127.0.0.2" }]);
    const [first] = held;
    first?.destroy();
    await expect.poll(async () => (await ask(port, "127.0.0.2")).status).toBe(200);
    for (const socket of held) socket.destroy();
  });

  test("in total: a full server closes idle connections to accept new ones", async ({ makeRest }) => {
    const { port, app, refusals } = await bounded(makeRest, { maxConnections: 3 });
    const held = [
      await idle(port, "127.0.0.2"),
      await idle(port, "127.0.0.3"),
      await idle(port, "127.0.0.4"),
    ];
    const closed = held.map((socket) => once(socket, "close"));
    expect((await ask(port, "127.0.0.5")).problem).toMatchObject({ bound: "3 in all" });
    await Promise.all(closed);
    await expect.poll(async () => (await ask(port, "127.0.0.5")).status).toBe(200);
    expect(refusals.counts.connections).toBeGreaterThanOrEqual(1);
    expect(app.server.listening).toBe(true);
  });

  test("in total: a full server waits a second for a connection's first request, then refuses and counts the connection", async ({
    makeRest,
  }) => {
    const { port, app, clock, refusals } = await bounded(makeRest, { maxConnections: 3 });
    const silent: { readonly socket: Socket; received: string }[] = [];
    for (const localAddress of ["127.0.0.2", "127.0.0.3", "127.0.0.4"]) {
      const accepted = once(app.server, "connection");
      const one = { socket: connect({ port, host: "127.0.0.1", localAddress }), received: "" };
      one.socket.setEncoding("utf8").on("data", (text) => (one.received += text));
      silent.push(one);
      await accepted;
    }
    const [first, ...others] = silent;
    const seen = () => silent.map(({ socket, received }) => ({ closed: socket.closed, received }));
    expect((await ask(port, "127.0.0.5")).problem).toMatchObject({ bound: "3 in all" });
    first?.socket.write("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await eventually(() => /^HTTP\/1\.1 200 /.test(first?.received ?? ""), seen);
    expect(seen().some(({ closed }) => closed)).toBe(false);
    expect(refusals.counts).toEqual({ connections: 1 });

    clock.advance(1_000);
    expect((await ask(port, "127.0.0.5")).problem).toMatchObject({ bound: "3 in all" });
    await eventually(() => silent.every(({ socket }) => socket.closed), seen);
    for (const { received } of others)
      expect(received).toMatch(/^HTTP\/1\.1 503 .*too many open connections: 3 in all/s);
    expect(refusals.counts).toEqual({ connections: 4 });
    expect((await ask(port, "127.0.0.5")).status).toBe(200);
  });

  test("in total: a client of a full server gets a response, however many silent connections are refused with it", async ({
    makeRest,
  }) => {
    const { port, app, clock } = await bounded(makeRest, { maxConnections: 40 });
    const silent: Socket[] = [];
    for (let opened = 0; opened < 40; opened++) {
      const accepted = once(app.server, "connection");
      silent.push(connect({ port, host: "127.0.0.1" }).on("error", () => {}));
      await accepted;
    }
    const closed = silent.map((socket) => new Promise((resolve) => socket.resume().on("close", resolve)));
    clock.advance(1_000);
    expect((await ask(port, "127.0.0.5")).status).toBe(503);
    await Promise.all(closed);
  });

  test("a refused client that keeps sending is disconnected after a second", async ({ makeRest }) => {
    const { port, app, clock } = await bounded(makeRest, { maxConnectionsPerAddress: 1 });
    const held = await idle(port, "127.0.0.2");
    const accepted = once(app.server, "connection");
    const sender = connect({ port, host: "127.0.0.1", localAddress: "127.0.0.2", allowHalfOpen: true });
    sender.on("error", () => {});
    const [refused] = (await accepted) as [Socket];
    await once(refused, "finish");
    expect(refused.destroyed).toBe(false);

    clock.advance(1_000);
    const keepsSending = () => {
      sender.write("x");
      return refused.destroyed;
    };
    await eventually(keepsSending, () => refused.bytesRead);
    for (const socket of [sender, held]) socket.destroy();
  });

  test("but not those of a trusted proxy, which has many clients", async ({ makeRest }) => {
    const settings = { maxConnectionsPerAddress: 1, trustProxy: ["127.0.0.2/32"] };
    const { port } = await bounded(makeRest, settings);
    const held = [await idle(port, "127.0.0.2"), await idle(port, "127.0.0.2")];
    expect((await ask(port, "127.0.0.2")).status).toBe(200);
    for (const socket of held) socket.destroy();
  });
});

describe("[W33] requests of an address without a key are limited", () => {
  const paths = ["/api/v1/newest", "/api/v1/newest?x=1", "/nothing", "/api/v1/flares"];

  test("one more gets 429 with Retry-After, and other addresses are served", async ({ makeRest }) => {
    const { port, clock, refusals } = await bounded(makeRest, { anonymousRequests: 60 });
    for (let asked = 0; asked < 60; asked++) await ask(port, "127.0.0.2", paths[asked % paths.length]);
    for (const path of paths) {
      const { status, headers, problem } = await ask(port, "127.0.0.2", path);
      expect([status, headers["retry-after"], headers.ratelimit, headers["ratelimit-policy"]]).toEqual([
        ...[429, "1", '"address";r=0;t=60', '"address";q=60;w=60'],
      ]);
      expect(problem).toMatchObject({ type: "urn:flarewire:problem:rate-limited" });
      expect((await ask(port, "127.0.0.3", path)).status).not.toBe(429);
    }
    expect(refusals.counts).toEqual({ "requests-of-address": paths.length });
    clock.advance(1_000);
    expect((await ask(port, "127.0.0.2", "/api/v1/flares")).status).toBe(200);
    expect((await ask(port, "127.0.0.2", "/api/v1/flares")).status).toBe(429);
  });

  test("health checks are neither refused nor counted, because an orchestrator would kill the process", async ({
    makeRest,
  }) => {
    for (const basePath of ["", "/flarewire"]) {
      const { port } = await bounded(makeRest, { anonymousRequests: 3, basePath });
      const probe = async () => {
        for (const path of ["/healthz", "/readyz", `${basePath}/healthz`, `${basePath}/readyz`])
          expect([path, (await ask(port, "127.0.0.2", path)).status]).toEqual([path, 200]);
      };
      const read = async () => (await ask(port, "127.0.0.2", `${basePath}/api/v1/newest`)).status;
      await probe();
      expect([await read(), await read(), await read(), await read()]).toEqual([200, 200, 200, 429]);
      await probe();
    }
  });

  test("a large response counts by its size", async ({ makeRest }) => {
    const large = "x".repeat(10 * BYTES_PER_REQUEST);
    const { port } = await bounded(
      makeRest,
      { anonymousRequests: 15 },
      {
        register: ({ app }: RouteScope) => void app.get("/large", async () => large),
      },
    );
    const statuses: (number | undefined)[] = [];
    for (let asked = 0; asked < 3; asked++) {
      const sent = request({ port, host: "127.0.0.1", path: "/large", agent: false }).end();
      const [message] = (await once(sent, "response")) as [IncomingMessage];
      message.resume();
      statuses.push(message.statusCode);
    }
    expect(statuses).toEqual([200, 200, 429]);
  });

  test.for([
    ["on a kept connection, where the quick path answers", true],
    ["on a connection of its own, where the framework answers", false],
  ] as const)(
    "a response counts once more for each whole 64 KiB, %s",
    async ([, keepAlive], { makeRest }) => {
      for (const [bytes, served] of [
        [2 * BYTES_PER_REQUEST - 1, 3],
        [2 * BYTES_PER_REQUEST, 2],
      ] as const) {
        const { port, head } = await bounded(makeRest, { anonymousRequests: 6 });
        const [listing] = SAMPLE_SNAPSHOT.newest.bsc;
        if (!listing) throw new Error("the sample lists no token");
        const listed = (name: string) => ({ bsc: [{ ...listing, token: { ...listing.token, name } }] });
        const padding = bytes - JSON.stringify(listed("")).length;
        head.move({ newest: listed("x".repeat(padding)) });
        const agent = keepAlive ? new Agent({ keepAlive }) : false;
        const statuses: (number | undefined)[] = [];
        for (let asked = 0; asked <= served; asked++) {
          const path = "/api/v1/newest";
          const sent = request({ port, host: "127.0.0.1", path, agent }).end();
          const [message] = (await once(sent, "response")) as [IncomingMessage];
          const body = Buffer.concat(await message.toArray());
          if (message.statusCode === 200) expect(body.length).toBe(bytes);
          statuses.push(message.statusCode);
        }
        if (agent) agent.destroy();
        expect(statuses).toEqual([...Array(served).fill(200), 429]);
      }
    },
  );

  test("a dear route and a dear parameter count as several requests, and are paid before they are served", async ({
    makeRest,
  }) => {
    const price = { schema: z.string(), description: "Costs three more.", example: "x", cost: 3 };
    const { port } = await bounded(
      makeRest,
      { anonymousRequests: 6 },
      {
        register: ({ app }: RouteScope) => {
          app.get("/dear", { config: { contract: { cost: 5 } } }, async () => "dear");
          app.get("/past", { config: { contract: { query: { price } } } }, async () => "past");
        },
      },
    );
    const statuses = async (localAddress: string, ...paths: readonly string[]) =>
      await Promise.all(
        paths.map(async (path) => {
          const asked = request({ port, host: "127.0.0.1", localAddress, path, agent: false }).end();
          const [message] = (await once(asked, "response")) as [IncomingMessage];
          message.resume();
          return message.statusCode;
        }),
      );
    // All at once: the first pays for itself before the others arrive.
    expect((await statuses("127.0.0.2", "/dear", "/dear", "/dear")).toSorted()).toEqual([200, 200, 429]);
    expect((await statuses("127.0.0.3", "/past?price=x", "/past?price=x", "/past")).toSorted()).toEqual([
      200, 200, 429,
    ]);
    expect(await statuses("127.0.0.4", ...Array(6).fill("/past"))).toEqual(Array(6).fill(200));
  });

  test("clients behind a trusted proxy count separately", async ({ makeRest }) => {
    const { port } = await bounded(makeRest, { anonymousRequests: 2, trustProxy: ["127.0.0.2"] });
    const by = (client: string) => ask(port, "127.0.0.2", "/api/v1/newest", { "x-forwarded-for": client });
    for (const [client, status] of [
      ["192.0.2.1", 200],
      ["192.0.2.1", 200],
      ["192.0.2.1", 429],
      ["192.0.2.2", 200],
      ["192.0.2.7, 192.0.2.1", 429],
    ] as const)
      expect([client, (await by(client)).status]).toEqual([client, status]);
  });
});

test("the first X-Forwarded-For of an untrusted peer logs a warning with the setting to change", async ({
  makeRest,
}) => {
  const { port, lines } = await bounded(makeRest, {});
  for (let asked = 0; asked < 3; asked++) {
    const answer = await ask(port, "127.0.0.2", "/api/v1/newest", { "x-forwarded-for": "192.0.2.1" });
    expect(answer.status).toBe(200);
  }
  expect(lines).toHaveLength(1);
  expect(lines).toMatchObject([{ peer: "127.0.0.2", msg: expect.stringContaining("--trust-proxy") }]);
  const trusted = await bounded(makeRest, { trustProxy: ["127.0.0.2"] });
  await ask(trusted.port, "127.0.0.2", "/api/v1/newest", { "x-forwarded-for": "192.0.2.1" });
  expect(trusted.lines).toEqual([]);
});

test("refusals of a starting server are counted without a warning, and a readiness probe is not counted", async ({
  makeRest,
}) => {
  const { head, port, refusals, lines } = await bounded(makeRest, {});
  head.ready = false;
  expect((await ask(port, "127.0.0.2", "/readyz")).status).toBe(503);
  expect(refusals.counts).toEqual({});
  expect((await ask(port, "127.0.0.2", "/api/v1/flares")).status).toBe(503);
  expect(refusals.counts).toEqual({ "not-ready": 1 });
  expect(lines).toEqual([]);
});

test("a readiness probe is not counted inside a host's server either", async () => {
  const [host, head, clock] = [fastify(), new HandHead(), new ManualClock()];
  head.ready = false;
  const refusals = new Refusals(clock);
  await addHostRoutes(host, { head, clock, refusals, freshness: () => FRESH, info: () => INFO });
  expect((await host.inject("/readyz")).statusCode).toBe(503);
  expect(refusals.counts).toEqual({});
  expect((await host.inject("/api/v1/flares")).statusCode).toBe(503);
  expect(refusals.counts).toEqual({ "not-ready": 1 });
  await host.close();
});

test("a connection that fails for lack of a file descriptor is counted and logged", async ({ makeRest }) => {
  const { refusals, lines, clock } = await bounded(makeRest, {});
  const failed = Object.assign(new Error("accept EMFILE"), { code: "EMFILE" });
  for (let again = 0; again < 5; again++) refusals.countFailedAccept(failed);
  clock.advance(60_000);
  refusals.countFailedAccept(failed);
  expect(refusals.counts).toEqual({ "open-files": 6 });
  expect(lines).toMatchObject([
    { reason: "open-files", refused: 1 },
    { reason: "open-files", refused: 5 },
  ]);
});

test("a request whose connection is reset at once is no internal error", async ({ makeRest }) => {
  const { port, lines } = await bounded(makeRest, { anonymousRequests: 10_000 });
  const reset = async () => {
    const socket = connect({ port, host: "127.0.0.1" }).on("error", () => {});
    await once(socket, "connect");
    socket.write("GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n");
    socket.resetAndDestroy();
  };
  await Promise.all(Array.from({ length: 100 }, reset));
  expect((await ask(port, "127.0.0.2", "/nothing")).status).toBe(404);
  expect(lines.filter(({ msg }) => msg === "request failed")).toEqual([]);
});
