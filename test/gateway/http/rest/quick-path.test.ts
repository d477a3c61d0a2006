import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import fc from "fast-check";
import { describe, expect } from "vitest";
import { createHistoryReader, openSqliteHistoryStore } from "../../../../src/extensions/history/index.ts";
import { KeyAccessPolicy } from "../../../../src/gateway/http/access/key-access-policy.ts";
import { knownKeys, TicketTable } from "../../../../src/gateway/keys/index.ts";
import { finishAt } from "../../../extensions/history/flare-records.ts";
import { ENDPOINTS } from "../../../support/expect/contracts.ts";
import { ManualClock } from "../../../support/time/manual-clock.ts";
import { SAMPLE_FLARE, SAMPLE_SNAPSHOT } from "../../../support/world/samples.ts";
import { test as base, type Rest } from "./rest-fixture.ts";

interface Answer {
  readonly status: number | undefined;
  /** Without the fields about the connection. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly body: string;
  readonly raw: readonly string[];
}

const PATHS = Object.values(ENDPOINTS)
  .filter(({ responses }) => 304 in responses)
  .map(({ path }) => path);

/** Sends a request over TCP, on a connection that stays open or one that does not. */
type Ask = (rest: Rest, path: string, headers?: Record<string, string>, method?: string) => Promise<Answer>;

const test = base.extend<{ quick: Ask; slow: Ask }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a pattern.
  quick: async ({}, use) => {
    const agent = new Agent({ keepAlive: true });
    await use(asker(agent));
    agent.destroy();
  },
  // biome-ignore lint/correctness/noEmptyPattern: as above
  slow: async ({}, use) => use(asker(false)),
});

function asker(agent: Agent | false): Ask {
  return async (rest, path, headers = {}, method = "GET") => {
    const { server } = rest.app;
    if (!server.listening) await rest.app.listen({ host: "127.0.0.1", port: 0 });
    const { port } = server.address() as AddressInfo;
    const sent = request({ agent, port, host: "127.0.0.1", path, headers, method });
    sent.end();
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    const { connection, date, "keep-alive": keepAlive, ...fields } = response.headers;
    expect(date).toMatch(/^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/);
    expect([connection, keepAlive]).toEqual(agent ? ["keep-alive", "timeout=75"] : ["close", undefined]);
    const body = await buffer(response);
    const { statusCode: status, rawHeaders: raw } = response;
    if (status === undefined || status < 400) return { status, fields, body: body.toString("latin1"), raw };
    // Each request has its own id, whose last digits are a counter.
    const { "content-length": _length, ...others } = fields;
    const text = body.toString("latin1").replace(/(?<=urn:flarewire:request:)[^"]*/, "");
    return { status, fields: others, body: text, raw };
  };
}

describe("a plain request gets the same response as through the framework's route", () => {
  const coding = fc.constantFrom("", "gzip", "br", "br;q=0, gzip", "identity");
  const tag = fc.constantFrom("none", "own", "other", "weak");
  const origin = fc.constantFrom("", "https://page.example", "https://evil.example");
  const method = fc.constantFrom("GET", "HEAD");

  const clock = new ManualClock();
  const free = new KeyAccessPolicy({
    ring: knownKeys([]),
    clock,
    anonymous: "free",
    tickets: new TicketTable(clock),
  });
  const servers = [
    ["all origins", { settings: { basePath: "/fw" } }],
    ["some origins", { settings: { corsOrigins: ["https://page.example"], basePath: "/fw" } }],
    ["keys, and the plan free without", { settings: { basePath: "/fw" }, policy: free }],
  ] as const;
  for (const [what, options] of servers) {
    test(`status, fields and bytes, with ${what}`, async ({ makeRest, quick, slow }) => {
      const rest = await makeRest(options);
      await fc.assert(
        fc.asyncProperty(
          fc.record({ path: fc.constantFrom(...PATHS), coding, tag, origin, method }),
          async (asked) => {
            const path = `/fw${asked.path}`;
            const accept: Record<string, string> =
              asked.coding === "" ? {} : { "accept-encoding": asked.coding };
            const own = String((await slow(rest, path, accept)).fields.etag);
            const tags = { own, other: '"other"', weak: `"x", W/${own}` };
            const headers = {
              ...accept,
              ...(asked.tag === "none" ? {} : { "if-none-match": tags[asked.tag as keyof typeof tags] }),
              ...(asked.origin === "" ? {} : { origin: asked.origin }),
            };
            const { raw, ...answer } = await quick(rest, path, headers, asked.method);
            const { raw: _, ...expected } = await slow(rest, path, headers, asked.method);
            expect(answer).toEqual(expected);
            const names = raw.filter((_name, at) => at % 2 === 0).map((name) => name.toLowerCase());
            expect(new Set(names).size).toBe(names.length);
            rest.head.move({}, 1);
          },
        ),
        { numRuns: 60 },
      );
    });
  }
});

test("plain requests reach no hook, all others do", async ({ makeRest, quick, slow }) => {
  let hooked = 0;
  const rest = await makeRest({
    register: ({ app }) => {
      app.addHook("onRequest", async () => {
        hooked += 1;
      });
    },
  });
  const [path = ""] = PATHS;
  for (const method of ["GET", "HEAD"]) await quick(rest, path, {}, method);
  expect(hooked).toBe(0);
  await quick(rest, `${path}?`);
  await quick(rest, path, { authorization: "Bearer x" });
  await slow(rest, path);
  expect(hooked).toBe(3);
});

test("other requests go to the framework: a query, a body, a key, no host, no data, a failing source", async ({
  makeRest,
  quick,
}) => {
  const rest = await makeRest();
  const [path = ""] = PATHS;
  expect((await quick(rest, `${path}?key=fw_x`)).status).toBe(400);
  expect((await quick(rest, `${path}?limit=3`)).status).toBe(400);
  expect((await quick(rest, path, { "content-length": "0" })).status).toBe(200);
  expect((await quick(rest, path, {}, "OPTIONS")).status).toBe(204);
  expect((await quick(rest, path, {}, "DELETE")).status).toBe(405);
  rest.head.ready = false;
  const early = await quick(rest, path);
  expect(early.status).toBe(503);
  expect(early.fields["content-type"]).toBe("application/problem+json");
});

test("an error while creating the response becomes a problem, and the next request is answered", async ({
  makeRest,
  quick,
}) => {
  let fails = true;
  const fresh = (await makeRest()).freshness;
  const rest = await makeRest({
    freshness: () => {
      if (fails) throw new Error("no freshness");
      return fresh;
    },
  });
  expect((await quick(rest, PATHS[0] ?? "")).status).toBe(500);
  fails = false;
  expect((await quick(rest, PATHS[0] ?? "")).status).toBe(200);
});

test("requests sent at once on one connection are answered in order", async ({ makeRest }) => {
  const rest = await makeRest();
  await rest.app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = rest.app.server.address() as AddressInfo;
  const socket = connect(port, "127.0.0.1");
  // The server lets at most 16 pipelined requests of a connection wait.
  const paths = [...PATHS, "/healthz", "/nothing", ...PATHS];
  const requests = paths.map((path, at) => {
    const last = at === paths.length - 1 ? "Connection: close\r\n" : "";
    return `GET ${path} HTTP/1.1\r\nHost: x\r\n${last}\r\n`;
  });
  socket.write(requests.join(""));
  const text = (await buffer(socket)).toString();
  const statuses = [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
  expect(statuses).toEqual(paths.map((path) => (path === "/nothing" ? "404" : "200")));
});

test("a page of the history, a record, a flare and a token reach no hook once prepared, until their data changes", async ({
  makeRest,
  quick,
  slow,
}) => {
  const store = openSqliteHistoryStore({ maxAgeMs: 86_400_000, maxBytes: 2 ** 20 });
  let hooked = 0;
  const rest = await makeRest({
    history: createHistoryReader(store),
    register: ({ app }) => {
      app.addHook("onRequest", async () => {
        hooked += 1;
      });
    },
  });
  const hooksOf = async (path: string) => {
    const before = hooked;
    const { raw: _, ...answer } = await quick(rest, path);
    const count = hooked - before;
    const { raw: __, ...expected } = await slow(rest, path);
    expect(answer).toEqual(expected);
    return count;
  };
  const pages = ["/api/v1/history", "/api/v1/history?limit=2&group=bsc"];
  const records = ["/api/v1/record", "/api/v1/record?window=7d"];
  const singles = [
    `/api/v1/flares/${SAMPLE_FLARE.id}`,
    "/api/v1/tokens/bsc/UNI",
    "/api/v1/tokens/matic/0x00ff",
  ];
  const all = [...pages, ...records, ...singles];
  for (const count of [1, 0, 0]) for (const path of all) expect(await hooksOf(path)).toBe(count);
  const nowMs = rest.head.observedAtMs;
  const batch = { nowMs, starts: [], outcomes: [] };
  store.commit({ ...batch, cursor: "a-1", finishes: [] });
  for (const path of all) expect(await hooksOf(path)).toBe(0);
  store.commit({ ...batch, cursor: "a-2", finishes: [finishAt(1, 20)] });
  for (const path of [...pages, ...singles]) expect(await hooksOf(path)).toBe(1);
  for (const path of records) expect(await hooksOf(path)).toBe(0);
  rest.head.move({});
  for (const path of pages) expect(await hooksOf(path)).toBe(0);
  for (const count of [1, 0]) for (const path of singles) expect(await hooksOf(path)).toBe(count);
  rest.head.observedAtMs += 60_000;
  for (const path of pages) expect(await hooksOf(path)).toBe(0);
  for (const path of [...records, ...singles]) expect(await hooksOf(path)).toBe(1);
  expect((await quick(rest, `${singles[0]}?at=x`)).status).toBe(400);
  expect((await quick(rest, `${pages[0]}?limit=0`)).status).toBe(400);
  store.close();
});

test("a past state reaches no hook once prepared, with the fields of the framework's route", async ({
  makeRest,
  quick,
  slow,
}) => {
  const store = openSqliteHistoryStore({ maxAgeMs: 86_400_000, maxBytes: 2 ** 20 });
  const minute = async (atMs: number) => {
    const state = { firstMs: atMs, lastMs: atMs, observedAtMs: atMs, aliveMs: atMs, cursor: "test1-3" };
    return { minute: { ...state, sourceState: "live" as const }, snapshot: JSON.stringify(SAMPLE_SNAPSHOT) };
  };
  let hooked = 0;
  store.commit({ ...{ cursor: "a-1", nowMs: 0 }, ...{ starts: [], finishes: [], outcomes: [] } });
  const rest = await makeRest({
    history: { ...createHistoryReader(store), minutesVersion: 1, minute },
    register: ({ app }) => {
      app.addHook("onRequest", async () => {
        hooked += 1;
      });
    },
  });
  const at = new Date(rest.head.observedAtMs - 120_000).toISOString();
  for (const name of ["flares", "charts", "snapshot", `flares/${SAMPLE_FLARE.id}`]) {
    const path = `/api/v1/${name}?at=${at}`;
    const { raw: _, ...first } = await quick(rest, path);
    expect([first.status, first.fields["flarewire-at"]]).toEqual([200, expect.any(String)]);
    const before = hooked;
    rest.head.move({});
    const { raw: __, ...again } = await quick(rest, path);
    expect([again, hooked]).toEqual([first, before]);
    const { raw: ___, ...expected } = await slow(rest, path);
    expect(again).toEqual(expected);
  }
  // Minutes of earlier releases have no record of their candles.
  expect((await quick(rest, `/api/v1/candles?at=${at}`)).status).toBe(410);
  store.close();
});

test("a server that closes ends the connection of a request that was on its way", async ({ rest }) => {
  const { app } = rest;
  await app.listen({ host: "127.0.0.1", port: 0 });
  const arrived = once(app.server, "connection");
  const socket = connect((app.server.address() as AddressInfo).port, "127.0.0.1");
  const answer = async () => String((await once(socket, "data"))[0]);
  const head = "GET /api/v1/newest HTTP/1.1\r\nHost: localhost\r\n";
  try {
    const [served] = (await arrived) as [Socket];
    socket.write(`${head}\r\n`);
    expect(await answer()).toMatch(/^HTTP\/1\.1 200 OK\r\n.*\r\nConnection: keep-alive\r\n/s);
    socket.write(head);
    await expect.poll(() => served.bytesRead).toBe(2 * head.length + 2);
    void app.close();
    await expect.poll(() => app.server.listening).toBe(false);
    socket.write("\r\n");
    expect(await answer()).toMatch(/^HTTP\/1\.1 200 OK\r\nConnection: close\r\n/);
  } finally {
    // The server waits for its connections.
    socket.destroy();
  }
});
