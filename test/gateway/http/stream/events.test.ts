import { once } from "node:events";
import { Agent, request } from "node:http";
import { connect } from "node:net";
import { expect } from "vitest";
import { EVENTS_ROUTE } from "../../../../src/gateway/http/index.ts";
import { validateResponse } from "../../../support/expect/validate-response.ts";
import { EPOCH } from "../../hub/hub-fixture.ts";
import { COME_BACK_S, type ConnectionHandle, test } from "./websocket-fixture.ts";

const PATH = EVENTS_ROUTE.path;

interface Body {
  readonly cursor: string;
  readonly events: readonly Readonly<Record<string, unknown>>[];
  readonly more: boolean;
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Body;
  readonly seqs: readonly unknown[];
}

/** Sends a request. Returns the response, checked against the contract. */
async function get(
  wire: ConnectionHandle,
  target: string,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const { message, body } = await wire.ask(target, headers);
  const seen = { status: message.statusCode ?? 0, headers: message.headers, body: Buffer.from(body) };
  const json = validateResponse("GET", target, seen) as Body;
  return { ...seen, body: json, seqs: json?.events?.map(({ seq }) => seq) ?? [] };
}

const after = (seq: number, more = "") => `${PATH}?after=${EPOCH}-${seq}${more}`;

/** Sends a request and resolves when it waits. Its response comes later. */
async function waiting(
  wire: ConnectionHandle,
  target: string,
): Promise<{ readonly answer: Promise<Answer> }> {
  const arrived = once(wire.app.server, "request");
  const answer = get(wire, target);
  await arrived;
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  return { answer };
}

test("[P1] the events after a cursor are the messages that a WebSocket delivers", async ({ wire }) => {
  const socket = wire.client("?channels=*");
  await socket.answer("subscribed");
  await wire.publish("list", "flare", "status", "refresh");
  await socket.until(() => socket.seqs.length === 4);
  const { status, headers, body } = await get(wire, after(0));
  expect([status, body.more, body.cursor]).toEqual([200, false, `${EPOCH}-4`]);
  expect(headers).toMatchObject({
    "flarewire-cursor": `${EPOCH}-4`,
    "flarewire-source-state": "live",
    "cache-control": "public, max-age=0, s-maxage=1",
    vary: "Accept",
  });
  expect(headers).not.toHaveProperty("link");
  expect(body.events).toEqual(socket.messages.filter(({ type }) => type === "event"));
  expect((await get(wire, after(4))).body).toEqual({ cursor: `${EPOCH}-4`, events: [], more: false });
});

test("[P2] following Link through the pages returns every event exactly once", async ({ makeWire }) => {
  const wire = await makeWire({ basePath: "/fw" });
  for (let poll = 0; poll < 30; poll++) await wire.publish("list", "status", "flare");
  const seqs: unknown[] = [];
  const sizes: number[] = [];
  let target: string | undefined = `/fw${PATH}?channels=newest.*&channels=flares.pro&limit=7&after=oldest`;
  while (target) {
    const { headers, body, seqs: found } = await get(wire, target);
    seqs.push(...found);
    sizes.push(found.length);
    expect(headers["flarewire-cursor"]).toBe(body.cursor);
    const link = /^<([^>]+)>; rel="next"$/.exec(String(headers.link))?.[1];
    expect(link !== undefined).toBe(body.more);
    target = link;
  }
  const all = Array.from({ length: 90 }, (_, at) => at + 1);
  expect(seqs).toEqual(all.filter((seq) => seq % 3 !== 2));
  expect(sizes).toEqual([7, 7, 7, 7, 7, 7, 7, 7, 4]);
});

test("[P2] a page also ends at a mebibyte", async ({ wire }) => {
  const data = { state: "live", reason: "x".repeat(2_000) } as const;
  const event = {
    name: "source-status",
    channel: "status",
    observed_at: "2026-11-21T08:00:00.000Z",
    data,
  } as const;
  await wire.head.publish({ events: Array.from({ length: 900 }, () => event) });
  const { body, headers } = await get(wire, after(0, "&limit=1000"));
  expect(body.more).toBe(true);
  expect(Number(headers["content-length"])).toBeGreaterThan(1_000_000);
  expect(Number(headers["content-length"])).toBeLessThan(1_300_000);
});

test("[P3] without after, the response is the head's cursor, without a wait", async ({ wire }) => {
  await wire.publish("list", "list");
  for (const query of ["", "?wait=60", "?limit=1&channels=status"]) {
    const { status, body } = await get(wire, `${PATH}${query}`);
    expect([status, body]).toEqual([200, { cursor: `${EPOCH}-2`, events: [], more: false }]);
  }
});

test("[P12] with snapshot=true and no cursor, the response includes the selected lists as of its cursor", async ({
  wire,
}) => {
  await wire.publish("list", "list", "list", "flare");
  const { body } = await get(wire, `${PATH}?snapshot=true&channels=newest.*&symbols=T1`);
  const listed = wire.head.snapshot.newest.bsc.filter(({ token }) => token.symbol === "T1");
  expect(listed).toHaveLength(1);
  expect(body).toEqual({
    ...{ cursor: `${EPOCH}-4`, filter: { symbols: ["t1"], sticky: false }, events: [], more: false },
    snapshot: { newest: { bsc: listed }, explanations: {} },
  });
  const { body: without } = await get(wire, `${PATH}?snapshot=true&after=${EPOCH}-4`);
  expect(without).toEqual({ cursor: `${EPOCH}-4`, events: [], more: false });
});

test("[P4] channels and names select events; the cursor passes the others, and prev proves it", async ({
  wire,
}) => {
  await wire.publish("list", "status", "flare", "refresh", "unlist", "status");
  const chosen = await get(wire, after(1, "&channels=newest.*,flares.*&names=flare-updated,token-unlisted"));
  expect(chosen.body.events.map(({ seq, prev, name }) => [seq, prev, name])).toEqual([
    [4, 1, "flare-updated"],
    [5, 4, "token-unlisted"],
  ]);
  expect(chosen.body.cursor).toBe(`${EPOCH}-6`);
  expect((await get(wire, after(0, "&names=flare-finished"))).body).toEqual({
    cursor: `${EPOCH}-6`,
    filter: { names: ["flare-finished"] },
    events: [],
    more: false,
  });
});

test("[P4] a filter that matches nothing in a long log is answered in several pages", async ({
  makeWire,
}) => {
  const wire = await makeWire({ log: { minCount: 20_000 } });
  for (let poll = 0; poll < 11; poll++) {
    await wire.publish(...Array.from({ length: 1_000 }, () => "status" as const));
  }
  const first = await get(wire, after(0, "&channels=newest.bsc&wait=60"));
  expect(first.body).toEqual({ cursor: `${EPOCH}-10000`, events: [], more: true });
  expect((await get(wire, after(10_000, "&channels=newest.bsc"))).body.cursor).toBe(`${EPOCH}-11000`);
});

test("[P5] a waiting request is answered at the next matching event, and at no other", async ({ wire }) => {
  await wire.publish("list");
  const { answer } = await waiting(wire, after(1, "&channels=newest.bsc&wait=60"));
  await wire.publish("status", "flare");
  await wire.publish("list", "list");
  const { status, body } = await answer;
  expect(status).toBe(200);
  expect(body.events.map(({ seq, prev }) => [seq, prev])).toEqual([
    [4, 1],
    [5, 4],
  ]);
});

test("[P5] when the wait ends without an event, 204 has the cursor, which has advanced", async ({ wire }) => {
  const { answer } = await waiting(wire, after(0, "&channels=newest.bsc&wait=2"));
  await wire.publish("status");
  wire.clock.advance(1_900);
  await wire.publish("flare");
  wire.clock.advance(200);
  const { status, headers } = await answer;
  expect([status, headers["flarewire-cursor"]]).toEqual([204, `${EPOCH}-2`]);
});

test("[P5] waiting requests share one timer, which ends with the last of them", async ({ wire }) => {
  let timers = 0;
  const every = wire.clock.every.bind(wire.clock);
  wire.clock.every = (ms, fn) => {
    timers += 1;
    const stop = every(ms, fn);
    return () => {
      timers -= 1;
      stop();
    };
  };
  const asked = await Promise.all([1, 2, 3].map((wait) => waiting(wire, after(0, `&wait=${wait}`))));
  expect(timers).toBe(1);
  wire.clock.advance(3_100);
  const answers = await Promise.all(asked.map(({ answer }) => answer));
  expect(answers.map(({ status }) => status)).toEqual([204, 204, 204]);
  expect(timers).toBe(0);
});

test("[L3] [P6] if the cursor is gone, 410 states why, how many events are lost, and where the snapshot is", async ({
  makeWire,
}) => {
  const wire = await makeWire({ basePath: "/fw", log: { minCount: 2, maxAgeMs: 0 } });
  for (let poll = 0; poll < 6; poll++) {
    wire.clock.advance(1);
    await wire.publish("list");
  }
  const detail = expect.stringMatching(
    /lost; get the current lists and their cursor from \/fw\/api\/v1\/snapshot$/,
  );
  for (const [cursor, lost] of [
    [`${EPOCH}-1`, { reason: "expired", events: 5 }],
    ["other-1", { reason: "epoch-changed", events: null }],
    [`${EPOCH}-9`, { reason: "ahead", events: null }],
  ] as const) {
    const { status, headers, body } = await get(wire, `/fw${PATH}?after=${cursor}&wait=60`);
    expect([status, body]).toMatchObject([
      410,
      { type: "urn:flarewire:problem:cursor-gone", field: "after", lost, detail },
    ]);
    expect(headers.link).toBe('</fw/api/v1/snapshot>; rel="current"; title="snapshot"');
    expect((await get(wire, "/fw/api/v1/snapshot")).body.cursor).toBe(`${EPOCH}-6`);
  }
  expect((await get(wire, `/fw${PATH}?after=oldest`)).seqs).toEqual([5, 6]);
});

test("[P7] an invalid value is rejected with field and bound", async ({ wire }) => {
  for (const [query, field, code = "invalid-parameter"] of [
    ["limit=0", "limit"],
    ["limit=1001", "limit"],
    ["limit=1&limit=2", "limit"],
    ["wait=61", "wait"],
    ["wait=-1", "wait"],
    ["wait=0.5", "wait"],
    ["after=newest", "after"],
    [`after=${EPOCH}-1&after=oldest`, "after"],
    ["names=flare-started,flare", "names"],
    ["names=", "names"],
    ["channels=", "channels", "unknown-channel"],
    ["channels=flare.pro", "channels", "unknown-channel"],
    ["mode=latest", "mode"],
  ] as const) {
    const { status, body } = await get(wire, `${PATH}?${query}`);
    expect([status, body], query).toMatchObject([
      400,
      { type: `urn:flarewire:problem:${code}`, field, bound: expect.any(String) },
    ]);
  }
  for (const query of ["limit=1", "limit=1000", "wait=0", "wait=60"]) {
    expect((await get(wire, `${PATH}?${query}`)).status, query).toBe(200);
  }
});

test("[P8] a poll that asks for 60 s ends after 55, before a proxy that gives up after 60", async ({
  wire,
}) => {
  await wire.publish("list");
  const { answer } = await waiting(wire, after(1, "&wait=60"));
  wire.clock.advance(55_000);
  const { status, headers } = await answer;
  expect([status, headers["flarewire-cursor"]]).toEqual([204, `${EPOCH}-1`]);
});

test("[P8] a drain answers all waiting requests at once, and admits no more", async ({ wire }) => {
  await wire.publish("list");
  const { answer } = await waiting(wire, after(1, "&wait=60"));
  const drained = wire.hub.drain(0);
  const { status, headers } = await answer;
  expect([status, headers["flarewire-cursor"]]).toEqual([204, `${EPOCH}-1`]);
  await drained;
  const refused = await get(wire, after(1));
  expect([refused.status, refused.headers["retry-after"]]).toEqual([503, expect.stringMatching(COME_BACK_S)]);
});

test("[P8] a request counts as a connection until its response is sent or the client leaves", async ({
  makeWire,
}) => {
  const wire = await makeWire({
    stream: { limits: { maxSockets: 1 }, allowedOrigins: ["https://page.example"] },
  });
  const given = request({ port: wire.port, path: after(0, "&wait=60"), agent: false }).on("error", () => {});
  const arrived = once(wire.app.server, "request");
  given.end();
  await arrived;
  const refused = await get(wire, after(0, "&wait=60"));
  expect([refused.status, refused.headers["retry-after"], refused.body]).toMatchObject([
    503,
    expect.stringMatching(COME_BACK_S),
    { type: "urn:flarewire:problem:over-capacity" },
  ]);
  expect((await get(wire, after(0))).status).toBe(503);
  const [socket] = wire.sockets();
  if (!socket) throw new Error("no connection");
  const gone = once(socket, "close");
  given.destroy();
  await gone;
  const { answer } = await waiting(wire, after(0, "&wait=60"));
  await wire.publish("list");
  expect((await answer).seqs).toEqual([1]);
  expect((await get(wire, after(0))).seqs).toEqual([1]);
  expect((await get(wire, after(0), { origin: "https://evil.example" })).status).toBe(403);
});

test("[P8] a pipelined request's wait begins when the previous response on its connection is finished", async ({
  wire,
}) => {
  const ask = `GET ${after(0, "&wait=60")} HTTP/1.1\r\nHost: x\r\n\r\n`;
  const arrived = once(wire.app.server, "request");
  const socket = connect(wire.port, "127.0.0.1");
  socket.write(ask.repeat(2));
  await arrived;
  await new Promise((resolve) => setImmediate(resolve));
  await wire.publish("list");
  let text = "";
  for await (const bytes of socket) {
    text += bytes;
    if (text.split("]").length > 2) break;
  }
  expect(text).toMatch(/^HTTP\/1.1 200 [\s\S]*HTTP\/1.1 200 /);
});

test("[P9] HEAD does not wait, and OPTIONS and other methods get the usual responses", async ({ wire }) => {
  await wire.publish("list");
  const { message, body } = await wire.ask(after(0, "&wait=60"), {}, "HEAD");
  expect([message.statusCode, body, message.headers["flarewire-cursor"]]).toEqual([200, "", `${EPOCH}-1`]);
  expect((await wire.ask(after(1, "&wait=60"), {}, "HEAD")).message.statusCode).toBe(200);
  const preflight = { origin: "https://p.example", "access-control-request-method": "GET" };
  const options = await wire.ask(PATH, preflight, "OPTIONS");
  expect([options.message.statusCode, options.message.headers.allow]).toEqual([204, "GET, HEAD, OPTIONS"]);
  expect(options.message.headers["access-control-allow-headers"]).toContain("Last-Event-ID");
  const posted = await wire.ask(PATH, {}, "POST");
  expect([posted.message.statusCode, posted.message.headers.allow]).toEqual([405, "GET, HEAD, OPTIONS"]);
});

test("every problem of the endpoint is tested here or in the tests of streams and keys", () => {
  expect([...EVENTS_ROUTE.problems].toSorted()).toEqual([
    "cursor-gone",
    "draining",
    "forbidden",
    "invalid-parameter",
    "not-ready",
    "origin-refused",
    "unauthorized",
    "unknown-channel",
  ]);
});

test("any number of polls on one connection leave no listener on it", async ({ wire, onTestFinished }) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const poll = async () => {
    const asked = request({ host: "127.0.0.1", port: wire.port, path: after(0), agent }).end();
    const [response] = await once(asked, "response");
    await once(response.resume(), "end");
  };
  const listeners = () => wire.sockets().map((socket) => socket.listenerCount("close"));
  await wire.publish("list");
  await poll();
  await expect.poll(listeners).toHaveLength(1);
  const before = listeners();
  for (let n = 0; n < 8; n += 1) await poll();
  await expect.poll(listeners).toEqual(before);
});
