import { connect, Socket } from "node:net";
import { expect } from "vitest";
import { ERROR_CODES, type ErrorCode, FlarewireError } from "../../../../src/base/protocol/index.ts";
import { destroyAfter } from "../../../../src/gateway/http/problems/client-error.ts";
import type { RouteScope } from "../../../../src/gateway/http/server.ts";
import { ENDPOINTS } from "../../../support/expect/contracts.ts";
import { ManualClock } from "../../../support/time/manual-clock.ts";
import { test } from "../rest/rest-fixture.ts";

const CODES = Object.keys(ERROR_CODES) as ErrorCode[];

/** Adds routes that fail in every possible way. */
function failingRoutes({ app }: RouteScope): void {
  for (const code of CODES) {
    app.get(`/fail/${code}`, () => {
      throw new FlarewireError(code, `failed by ${code}`, { field: "limit", bound: "1 to 10" });
    });
  }
  app.get("/fail/secret", async () => {
    throw new Error("password is 1234");
  });
  app.get("/fail/status", () => {
    throw Object.assign(new Error("password is 1234"), { statusCode: 403, code: "E_FOREIGN" });
  });
  app.get("/fail/nothing", () => {
    throw undefined;
  });
  app.get("/fail/late", (_request, reply) => {
    reply.headers({ etag: '"x"', "content-encoding": "gzip", "cache-control": "no-cache", link: "</a>" });
    throw new FlarewireError("cursor-gone", "gone");
  });
  app.get("/fail/later", (_request, reply) => {
    reply.header("retry-after", "17");
    throw new FlarewireError("over-capacity", "full");
  });
  app.post("/takes-json", () => ({}));
  app.get("/named/:name", () => ({}));
}

test("every error code becomes a problem of its own type and status", async ({ makeRest }) => {
  const rest = await makeRest({ register: failingRoutes });
  for (const code of CODES) {
    const { status, json, headers } = await rest.ask("GET", `/fail/${code}`);
    expect(status).toBe(ERROR_CODES[code].status);
    expect(json).toEqual({
      type: `urn:flarewire:problem:${code}`,
      title: ERROR_CODES[code].meaning,
      status,
      detail: `failed by ${code}`,
      instance: expect.stringMatching(/^urn:flarewire:request:/),
      field: "limit",
      bound: "1 to 10",
    });
    expect(headers["retry-after"]).toBe(status === 429 || status === 503 ? "5" : undefined);
    expect(headers.upgrade).toBe(status === 426 ? "websocket" : undefined);
  }
});

test("an unknown error is a 500 whose details are only in the log", async ({ makeRest }) => {
  const logged: unknown[] = [];
  const log = () => undefined;
  const logger = {
    level: "info",
    msgPrefix: "",
    ...{ fatal: log, warn: log, info: log, debug: log, trace: log, silent: log },
    error: (...entry: unknown[]) => logged.push(entry),
    child: () => logger,
  };
  const rest = await makeRest({ register: failingRoutes, logger });
  for (const path of ["/fail/secret", "/fail/status", "/fail/nothing"]) {
    const { status, json, body } = await rest.ask("GET", `${path}?key=hidden`);
    expect(status, path).toBe(500);
    expect(json).toMatchObject({ type: "urn:flarewire:problem:internal" });
    expect(body.toString()).not.toContain("1234");
  }
  expect(logged).toHaveLength(3);
  expect(logged[0]).toEqual([
    { err: new Error("password is 1234"), code: "internal", path: "/fail/secret" },
    "request failed",
  ]);
});

test("a client that disconnects while sending its body causes no server error", async ({ makeRest }) => {
  const { promise: answered, resolve } = Promise.withResolvers<number>();
  const rest = await makeRest({
    register: (scope) => {
      failingRoutes(scope);
      const { app } = scope;
      app.addHook("onSend", async (_request, reply) => resolve(reply.statusCode));
    },
  });
  const socket = connect(Number(new URL(await rest.app.listen({ host: "127.0.0.1", port: 0 })).port));
  rest.app.server.once("request", () => socket.destroy());
  const fields = "Host: a\r\nContent-Type: application/json\r\nContent-Length: 100";
  socket.write(`POST /takes-json HTTP/1.1\r\n${fields}\r\n\r\n{`);
  expect(await answered).toBe(400);
});

test("a problem does not keep header fields of the response that it replaces", async ({ makeRest }) => {
  const rest = await makeRest({ register: failingRoutes });
  const { headers } = await rest.ask("GET", "/fail/late");
  expect(headers).not.toHaveProperty("etag");
  expect(headers).not.toHaveProperty("content-encoding");
  expect(headers.link).toBe("</a>");
  expect((await rest.ask("GET", "/fail/later")).headers["retry-after"]).toBe("17");
});

test("instances differ from request to request", async ({ rest }) => {
  const problems = await Promise.all([1, 2, 3].map(() => rest.ask("GET", "/nothing")));
  expect(new Set(problems.map(({ json }) => (json as { instance: string }).instance)).size).toBe(3);
});

test("an unknown path is not-found with every method", async ({ rest }) => {
  for (const method of ["GET", "HEAD", "POST", "OPTIONS", "DELETE", "PUT"] as const) {
    for (const url of [
      "/api/v1",
      "/api/v1/flares/",
      "/api/v1/flares/x",
      "/api/v2/flares",
      "/%F0%9F%94%A5",
      "//",
    ]) {
      const { status, json } = await rest.ask(method, url);
      expect(status, `${method} ${url}`).toBe(404);
      if (method !== "HEAD") expect(json).toMatchObject({ type: "urn:flarewire:problem:not-found" });
    }
  }
});

test("another method on a known path is method-not-allowed, with Allow, and its body is not read", async ({
  makeRest,
}) => {
  const rest = await makeRest({ register: failingRoutes });
  for (const { path } of Object.values(ENDPOINTS)) {
    for (const method of ["POST", "PUT", "PATCH", "DELETE"] as const) {
      const { status, json, headers } = await rest.ask(method, `${path}?x=1`, {
        "content-type": "text/nonsense",
      });
      expect(status, `${method} ${path}`).toBe(405);
      expect(headers.allow).toBe("GET, HEAD, OPTIONS");
      expect(json).toMatchObject({ field: "method", bound: "GET, HEAD, OPTIONS" });
    }
  }
  const other = await rest.ask("GET", "/takes-json");
  expect([other.status, other.headers.allow]).toEqual([405, "POST, OPTIONS"]);
  expect((await rest.ask("POST", "/api/v1/fl%61res")).status).toBe(405);
});

test("errors of the framework are problems too", async ({ makeRest }) => {
  const rest = await makeRest({ register: failingRoutes, settings: { bodyLimitBytes: 20, urlLimit: 300 } });
  const { app } = rest;
  const post = async (type: string, payload: string) => {
    const { statusCode, json } = await app.inject({
      method: "POST",
      url: "/takes-json",
      headers: { "content-type": type },
      payload,
    });
    return [statusCode, json().type.split(":").at(-1)];
  };
  expect(await post("application/json", "{")).toEqual([400, "invalid-request"]);
  expect(await post("application/json", "")).toEqual([400, "invalid-request"]);
  expect(await post("application/json", '{"__proto__":1}')).toEqual([400, "invalid-request"]);
  expect(await post("application/xml", "<a/>")).toEqual([415, "unsupported-media-type"]);
  expect(await post("application/json", `"${"x".repeat(30)}"`)).toEqual([413, "content-too-large"]);
  const bad = await rest.ask("GET", "/api/v1/%zz");
  expect([bad.status, bad.headers["access-control-allow-origin"]]).toEqual([400, "*"]);
  expect((await rest.ask("GET", `/named/${"x".repeat(200)}`)).status).toBe(414);
});

test("a URL or a body beyond its limit is rejected with the limit", async ({ makeRest }) => {
  const rest = await makeRest({ settings: { urlLimit: 50, bodyLimitBytes: 10 } });
  expect((await rest.ask("GET", `/healthz?${"x".repeat(41)}`)).status).toBe(200);
  const long = await rest.ask("GET", `/healthz?${"x".repeat(42)}`);
  expect(long.status).toBe(414);
  expect(long.json).toMatchObject({ field: "url", bound: "at most 50 characters" });
  const big = await rest.ask("GET", "/api/v1/flares", { "content-length": "11" });
  expect(big.status).toBe(413);
  expect(big.json).toMatchObject({ field: "Content-Length", bound: "at most 10 bytes" });
});

test("a socket is destroyed after its time, and one that is destroyed already leaves no timer", async () => {
  const clock = new ManualClock();
  const [open, gone] = [new Socket(), new Socket().destroy()];
  for (const socket of [open, gone]) destroyAfter(1_000, socket, clock);
  expect(clock.slept).toEqual([1_000]);
  clock.advance(1_000);
  await expect.poll(() => open.destroyed).toBe(true);
});
