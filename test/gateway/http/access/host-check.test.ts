import { once } from "node:events";
import { connect } from "node:net";
import type { FastifyInstance } from "fastify";
import { expect } from "vitest";
import { Refusals } from "../../../../src/gateway/http/index.ts";
import { HOSTILE_HOSTS } from "../../../support/servers/hostile-hosts.ts";
import { ManualClock } from "../../../support/time/manual-clock.ts";
import { type RestFactory, test } from "../rest/rest-fixture.ts";

/** Sends lines over TCP. Returns the status line and body of the response. */
async function exchange(app: FastifyInstance, lines: readonly string[]): Promise<string> {
  const { port } = new URL(app.listeningOrigin);
  const socket = connect(Number(port), "127.0.0.1").setEncoding("utf8");
  let received = "";
  socket.on("data", (text) => {
    received += text;
  });
  socket.write([...lines, "Connection: close", "", ""].join("\r\n"));
  await once(socket, "close");
  return received;
}

const listening = async (makeRest: RestFactory, settings: object) => {
  const rest = await makeRest({ settings });
  await rest.app.listen({ host: "127.0.0.1", port: 0 });
  return rest;
};

test.for(["GET /api/v1/flares", "GET /healthz?x", "GET /api/v1/nothing", "POST /healthz"])(
  "two Host fields are refused with 400, with equal values too: %s",
  async (request, { makeRest }) => {
    const { app } = await listening(makeRest, {});
    for (const second of ["Host: a", "hOST: b"]) {
      const answer = await exchange(app, [`${request} HTTP/1.1`, "Host: a", second]);
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
      expect(answer).toContain('"field":"Host"');
      expect(answer).toContain("more than one Host");
    }
    expect(await exchange(app, [`${request} HTTP/1.1`, "Host: a"])).not.toMatch(/^HTTP\/1\.1 400/);
  },
);

test("a page whose name resolves to 127.0.0.1 can read nothing, and the problem names the setting that allows a name", async ({
  makeRest,
}) => {
  const rest = await makeRest({ settings: { host: "127.0.0.1" } });
  for (const url of ["/api/v1/flares", "/api/v1/snapshot?x=1", "/healthz", "/readyz", "/docs", "/nothing"]) {
    const { status, json } = await rest.ask("GET", url, { host: "rebound.example:8080" });
    expect([url, status]).toEqual([url, 421]);
    expect(json).toMatchObject({
      type: "urn:flarewire:problem:host-refused",
      field: "Host",
      detail: expect.stringMatching(/"rebound\.example:8080".*allowedHosts.*--allowed-hosts/),
    });
  }
});

test("a wrong Host is counted and logged on health checks too, and an unready server is not", async ({
  makeRest,
}) => {
  const lines: object[] = [];
  const log = (facts: object) => lines.push(facts);
  const clock = new ManualClock();
  const refusals = new Refusals(clock, { info: log, warn: log });
  const rest = await makeRest({ settings: { host: "127.0.0.1" }, refusals, clock });
  for (const url of ["/healthz", "/readyz"])
    expect((await rest.ask("GET", url, { host: "flares.example.org" })).status).toBe(421);
  rest.ready = false;
  expect((await rest.ask("GET", "/readyz", { host: "localhost" })).status).toBe(503);
  expect(refusals.counts).toEqual({ "host-refused": 2 });
  expect(lines).toMatchObject([{ reason: "host-refused", refused: 1 }]);
});

test.for([
  ["localhost", true],
  ["LOCALHOST:8080", true],
  ["localhost.", true],
  ["app.localhost:1", true],
  ["127.0.0.1:8080", true],
  ["127.255.0.3", true],
  ["[::1]:8080", true],
  ["localhost:", true],
  ["localhost:65535", true],
  ["my_app.localhost", true],
  ["::1", false],
  ["localhost.evil.example", false],
  ["evil-localhost", false],
  ["127.0.0.1.evil.example", false],
  ["user@localhost", false],
  ["[::2]", false],
  ["192.0.2.7", false],
  ["a:b:c", false],
] as const)("on a loopback address the host %j is served: %s", async ([host, isServed], { makeRest }) => {
  for (const listens of ["127.0.0.1", "localhost", "::1"]) {
    const rest = await makeRest({ settings: { host: listens } });
    expect((await rest.ask("GET", "/healthz", { host })).status).toBe(isServed ? 200 : 421);
  }
});

test("on a loopback address a Host is refused that is not a host with a port", async ({ makeRest }) => {
  const rest = await makeRest({ settings: { host: "127.0.0.1" } });
  for (const host of HOSTILE_HOSTS) {
    const { status } = await rest.ask("GET", "/healthz", { host });
    expect([host, status]).toEqual([host, 421]);
  }
});

test("on a loopback address an empty Host is refused, on the quick path too, and HTTP/1.0 needs none", async ({
  makeRest,
}) => {
  const { app } = await listening(makeRest, { host: "127.0.0.1" });
  expect(await exchange(app, ["GET /api/v1/flares HTTP/1.1", "Host:"])).toMatch(/^HTTP\/1\.1 421 /);
  expect(await exchange(app, ["GET /healthz HTTP/1.0"])).toMatch(/^HTTP\/1\.1 200 /);
});

test("allowedHosts adds names, also on other than loopback addresses; a star allows all", async ({
  makeRest,
}) => {
  const ask = async (settings: object, host: string) =>
    (await (await makeRest({ settings })).ask("GET", "/healthz", { host })).status;
  const named = { allowedHosts: ["Flares.example.org", "192.0.2.7"] };
  for (const listens of ["127.0.0.1", "0.0.0.0"]) {
    const settings = { host: listens, ...named };
    expect(await ask(settings, "flares.EXAMPLE.org:443")).toBe(200);
    expect(await ask(settings, "192.0.2.7")).toBe(200);
    expect(await ask(settings, "localhost")).toBe(200);
    expect(await ask(settings, "rebound.example")).toBe(421);
  }
  expect(await ask({ host: "127.0.0.1", allowedHosts: ["*"] }, "rebound.example")).toBe(200);
  expect(await ask({ host: "0.0.0.0" }, "rebound.example")).toBe(200);
  expect(await ask({}, "rebound.example")).toBe(200);
});

test.for([
  ["http://evil.example/api/v1/flares", "127.0.0.1", 421],
  ["HTTP://evil.example:80/healthz", "127.0.0.1", 421],
  ["http://127.0.0.1@evil.example/healthz", "127.0.0.1", 421],
  ["http://evil.example@127.0.0.1/healthz", "127.0.0.1", 421],
  ["http://evil.example?/healthz", "127.0.0.1", 421],
  ["http://localhost:8080/healthz", "127.0.0.1", 200],
  ["http://[::1]/healthz", "evil.example", 200],
] as const)(
  "on a loopback address the host in an absolute URL counts, not the Host field: %s with %s is %i",
  async ([target, host, status], { makeRest }) => {
    const { app } = await listening(makeRest, { host: "127.0.0.1" });
    for (const fields of [[], ["Connection: upgrade", "Upgrade: websocket"]]) {
      const answer = await exchange(app, [`GET ${target} HTTP/1.1`, `Host: ${host}`, ...fields]);
      expect(answer.slice(0, 12)).toBe(`HTTP/1.1 ${status}`);
      if (status === 421) expect(answer).toContain("host-refused");
    }
  },
);

test("an absolute URL without a host is refused with 400, also if any name is served", async ({
  makeRest,
}) => {
  for (const settings of [{ host: "127.0.0.1" }, { host: "0.0.0.0" }]) {
    const { app } = await listening(makeRest, settings);
    const answer = await exchange(app, ["GET http:///readyz HTTP/1.1", "Host: localhost"]);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain("the request target must be a valid path or an absolute URL with a host");
  }
});

test("OPTIONS for the whole server is answered, and CONNECT opens nothing", async ({ makeRest }) => {
  const { app } = await listening(makeRest, { host: "127.0.0.1" });
  expect(await exchange(app, ["OPTIONS * HTTP/1.1", "Host: localhost"])).toMatch(/^HTTP\/1\.1 (204|404) /);
  expect(await exchange(app, ["OPTIONS * HTTP/1.1", "Host: evil.example"])).toMatch(/^HTTP\/1\.1 421 /);
  expect(await exchange(app, ["CONNECT evil.example:443 HTTP/1.1", "Host: localhost"])).toBe("");
  expect(await exchange(app, ["GET /healthz HTTP/1.1", "Host: localhost"])).toMatch(/^HTTP\/1\.1 200 /);
});
