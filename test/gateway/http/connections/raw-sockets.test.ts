import { once } from "node:events";
import { connect } from "node:net";
import type { FastifyInstance } from "fastify";
import { describe, expect } from "vitest";
import { validateResponse } from "../../../support/expect/validate-response.ts";
import { SAMPLE_SNAPSHOT } from "../../../support/world/samples.ts";
import { type RestFactory, test } from "../rest/rest-fixture.ts";

/* Tests requests of clients that are not HTTP libraries, over real TCP. */

async function portOf(app: FastifyInstance): Promise<number> {
  return Number(new URL(await app.listen({ host: "127.0.0.1", port: 0 })).port);
}

/**
 * Sends `bytes` and returns everything received until the server closed the connection. Calls
 * `onData` for each piece.
 */
async function exchange(port: number, bytes: string, onData = () => {}): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.setEncoding("utf8");
  let received = "";
  socket.on("data", (text) => {
    received += text;
    onData();
  });
  socket.write(bytes);
  await once(socket, "close");
  return received;
}

/** Parses the first response in `text`, checked against its contract. */
function parse(method: string, url: string, text: string) {
  const end = text.indexOf("\r\n\r\n");
  const [line = "", ...fields] = text.slice(0, end).split("\r\n");
  const headers = Object.fromEntries(
    fields.map((field) => [
      field.slice(0, field.indexOf(":")).toLowerCase(),
      field.slice(field.indexOf(":") + 2),
    ]),
  );
  const status = Number(line.split(" ")[1]);
  const body = Buffer.from(text.slice(end + 4));
  return { status, headers, json: validateResponse(method, url, { status, headers, body }) };
}

const REFUSED: Readonly<Record<string, readonly [bytes: string, status: number, code: string]>> = {
  "what is no HTTP": ["hello\r\n\r\n", 400, "invalid-request"],
  "the first bytes of TLS": ["\x16\x03\x01\x02\x00\x01\x00", 400, "invalid-request"],
  "a bad field": ["GET /healthz HTTP/1.1\r\nHost: a\r\nbad field: 1\r\n\r\n", 400, "invalid-request"],
  "both lengths": [
    "POST /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    400,
    "invalid-request",
  ],
  "no Host": ["GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n", 400, "invalid-request"],
  "fields beyond the limit": [
    `GET /healthz HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(20_000)}\r\n\r\n`,
    431,
    "headers-too-large",
  ],
  "an address beyond the limit": [
    `GET /healthz?${"x".repeat(9_000)} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
    414,
    "address-too-long",
  ],
  "a body beyond the limit": [
    "GET /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\nabc",
    413,
    "content-too-large",
  ],
  "an address that cannot be decoded": [
    "GET /%ff%zz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    400,
    "invalid-request",
  ],
  "a method of another protocol": [
    "PROPFIND /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    405,
    "method-not-allowed",
  ],
};

describe("a refusal is a complete HTTP response with a problem", () => {
  for (const [name, [bytes, status, code]] of Object.entries(REFUSED)) {
    test(`of ${name}`, async ({ rest }) => {
      const answer = parse("GET", "/healthz", await exchange(await portOf(rest.app), bytes));
      expect(answer.status).toBe(status);
      expect(answer.json).toMatchObject({ type: `urn:flarewire:problem:${code}` });
      expect(answer.headers.connection).toBe("close");
      expect((await rest.ask("GET", "/healthz")).status).toBe(200);
    });
  }

  test("of a request that does not arrive in time", async ({ makeRest }) => {
    const rest = await makeRest({ settings: { requestTimeoutMs: 40, checkIntervalMs: 20 } });
    const port = await portOf(rest.app);
    for (const part of ["GET /healthz HT", "GET /healthz HTTP/1.1\r\nHost: a\r\nX-Slow: "]) {
      const answer = parse("GET", "/healthz", await exchange(port, part));
      expect(answer.status).toBe(408);
      expect(answer.json).toMatchObject({ type: "urn:flarewire:problem:request-timeout" });
    }
  });
});

test("an idle connection is closed after the keep-alive time", async ({ makeRest }) => {
  const rest = await makeRest({ settings: { keepAliveTimeoutMs: 30 } });
  const text = await exchange(await portOf(rest.app), "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
  expect(text).toMatch(/^HTTP\/1\.1 200 [\s\S]*keep-alive/);
});

test("a connection without traffic during a response is destroyed", async ({ makeRest }) => {
  const rest = await makeRest({
    settings: { idleTimeoutMs: 30 },
    register: ({ app }) => {
      app.get("/stuck", (_request, reply) => {
        reply.hijack();
        reply.raw.writeHead(200).write("begun");
      });
    },
  });
  const text = await exchange(await portOf(rest.app), "GET /stuck HTTP/1.1\r\nHost: a\r\n\r\n");
  expect(text).toContain("begun");
  expect(text).not.toContain("0\r\n\r\n");
});

test("a refused connection that continues to send is destroyed after a while", async ({ rest }) => {
  const port = await portOf(rest.app);
  const asked = rest.clock.nextSleep();
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  socket.on("error", () => undefined).resume();
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.write("hello\r\n\r\n");
  await asked;
  await once(socket, "end");
  expect(rest.app.server.listening).toBe(true);
  rest.clock.advance(500);
  // Writing to a destroyed connection causes the reset that closes this end. On an open connection
  // it would continue forever.
  const pump = setInterval(() => socket.write("more"), 5);
  await closed;
  clearInterval(pump);
});

test("a response in progress is not interrupted by the refusal of the next request", async ({ makeRest }) => {
  const rest = await makeRest({
    register: ({ app }) => {
      app.get("/slow", (_request, reply) => {
        reply.hijack();
        reply.raw.writeHead(200, { "content-type": "text/event-stream" });
        reply.raw.write("data: 1\n\n");
      });
    },
  });
  const text = await exchange(
    await portOf(rest.app),
    "GET /slow HTTP/1.1\r\nHost: a\r\n\r\nnonsense\r\n\r\n",
  );
  expect(text).toContain("data: 1");
  expect(text.match(/HTTP\/1\.1/g)).toHaveLength(1);
});

describe("unusual but valid requests are served", () => {
  const end = "Host: a\r\nConnection: close\r\n\r\n";

  test("the absolute form of a URL", async ({ rest }) => {
    const port = await portOf(rest.app);
    const url = "http://evil.example/api/v1/flares";
    const got = parse("GET", url, await exchange(port, `GET ${url} HTTP/1.1\r\n${end}`));
    expect(got.json).toEqual(SAMPLE_SNAPSHOT.flares);
    const refused = parse("DELETE", url, await exchange(port, `DELETE ${url} HTTP/1.1\r\n${end}`));
    expect([refused.status, refused.headers.allow]).toEqual([405, "GET, HEAD, OPTIONS"]);
  });

  test("OPTIONS of the server as a whole", async ({ rest }) => {
    const { status, headers } = parse(
      "OPTIONS",
      "*",
      await exchange(await portOf(rest.app), `OPTIONS * HTTP/1.1\r\n${end}`),
    );
    expect([status, headers.allow]).toEqual([204, "GET, HEAD, OPTIONS"]);
  });

  test("HTTP/1.0 without a Host", async ({ rest }) => {
    const text = await exchange(await portOf(rest.app), "GET /api/v1/newest HTTP/1.0\r\n\r\n");
    expect(parse("GET", "/api/v1/newest", text).json).toEqual(SAMPLE_SNAPSHOT.newest);
  });

  test("an unknown expectation", async ({ rest }) => {
    const text = await exchange(
      await portOf(rest.app),
      `GET /api/v1/newest HTTP/1.1\r\nExpect: wonders\r\n${end}`,
    );
    expect(parse("GET", "/api/v1/newest", text).json).toEqual(SAMPLE_SNAPSHOT.newest);
  });

  test("HEAD on a persistent connection, after which the next response is whole", async ({ rest }) => {
    const text = await exchange(
      await portOf(rest.app),
      `HEAD /api/v1/snapshot HTTP/1.1\r\nHost: a\r\n\r\nGET /api/v1/newest HTTP/1.1\r\n${end}`,
    );
    const second = text.indexOf("HTTP/1.1", 1);
    expect(parse("HEAD", "/api/v1/snapshot", text.slice(0, second)).status).toBe(200);
    expect(parse("GET", "/api/v1/newest", text.slice(second)).json).toEqual(SAMPLE_SNAPSHOT.newest);
  });
});

describe("closing the server", () => {
  /** Starts a server with a route that responds when the test allows it. */
  async function holding(makeRest: RestFactory) {
    const held = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    const rest = await makeRest({
      register: ({ app }) => {
        app.get("/held", async () => {
          arrived.resolve();
          await held.promise;
          return {};
        });
      },
    });
    const port = await portOf(rest.app);
    const begun = Promise.withResolvers<void>();
    const answer = exchange(port, "GET /held HTTP/1.1\r\nHost: a\r\n\r\n", begun.resolve);
    await arrived.promise;
    return { rest, port, answer, begun: begun.promise, release: held.resolve };
  }

  test("closes idle and unused connections, and answers requests in progress", async ({ makeRest }) => {
    const { rest, port, answer, begun, release } = await holding(makeRest);
    const idle = exchange(port, "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
    const silent = exchange(port, "");
    const half = exchange(port, "GET /healthz HTT");
    // Connections are accepted in order: after this response, the earlier ones are accepted.
    await exchange(port, "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    const closed = rest.app.close();
    await Promise.all([silent, half]);
    release();
    await begun;
    rest.clock.advance(50);
    expect(await answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(await idle).toMatch(/^HTTP\/1\.1 200 /);
    await closed;
  });

  test("destroys connections without a response within the grace period", async ({ makeRest }) => {
    const { rest, answer } = await holding(makeRest);
    const waiting = rest.clock.nextSleep();
    const closed = rest.app.close();
    await waiting;
    rest.clock.advance(2_000);
    expect(await answer).toBe("");
    await closed;
  });
});
