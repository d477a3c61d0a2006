import { describe, expect, test } from "vitest";
import { eventsOf, follow, followAll, hasPython, linesOf } from "./python-client.ts";
import {
  flareEvent,
  HELLO,
  heartbeat,
  inserted,
  NOTHING,
  startScriptedEvents,
  statusEvent,
} from "./scripted-events.ts";

const FULL = { type: "subscribed", cursor: "abcd-6", resumed: "full" };
const SSE = { transport: "sse", after: "abcd-6" };
const POLL = { transport: "poll", after: "abcd-6" };

describe.skipIf(!hasPython)("the Python package over server-sent events", { concurrent: true }, () => {
  test("[S1] [S2] [S3] it reads a stream that arrives byte by byte, with comments and unknown fields", async () => {
    await using server = await startScriptedEvents();
    await using client = follow(server.url, { transport: "sse", count: 2 });
    const { query, response } = await server.next();
    expect([query.get("after"), query.get("limit"), query.get("wait")]).toEqual([null, null, null]);
    const start = { ...FULL, resumed: "reset", snapshot: NOTHING };
    const flare = flareEvent(7, "flare-started", inserted("one ü 🔥"));
    const text = [": comment", "retry: 1000", "new: field", "event: new-event", 'data: {"type":"new"}', ""];
    const blocks = [HELLO, start, flare, statusEvent(8)].map(
      (message) => `data: ${JSON.stringify(message)}\n\n`,
    );
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    for (const byte of Buffer.from(`${text.join("\n")}\n${blocks.join("")}`)) {
      response.write(Buffer.of(byte));
      await new Promise(setImmediate);
    }
    expect(await client.ended(), client.stderr()).toBe(0);
    expect(eventsOf(client).map(({ seq }) => seq)).toEqual([7, 8]);
    expect(eventsOf(client)[1]?.view?.flares?.pro).toMatchObject([{ id: "one ü 🔥" }]);
  });

  test("[S4] [S5] [S8] it resumes from its cursor after a stream that ends without close, obeys the action of close, and reports a reset", async () => {
    await using server = await startScriptedEvents();
    await using client = follow(server.url, SSE);
    const next = async (after: string) => {
      const request = await server.next();
      expect(request.query.get("after")).toBe(after);
      return request;
    };
    const cut = await next("abcd-6");
    cut.stream(HELLO, FULL, heartbeat(7), statusEvent(8));
    await client.said("stdout", '"seq": 8');
    // The client must ignore an incomplete event.
    cut.response.end('id: abcd-9\ndata: {"type":"event","cursor":"abcd-9"');
    const resumed = await next("abcd-8");
    const close = { type: "close", reason: "slow-consumer", code: 4_201, action: "resume" };
    resumed.stream(HELLO, { ...FULL, cursor: "abcd-8" }, close);
    const lost = { reason: "expired", events: 4 };
    const reset = await next("abcd-8");
    const stop = { type: "close", reason: "unauthorized", code: 4_001, action: "stop" };
    reset.stream(HELLO, { ...FULL, resumed: "reset", cursor: "abcd-12", lost, snapshot: NOTHING }, stop);
    await client.ended();
    const lines = linesOf(client);
    expect(lines.filter(({ connection }) => connection === "waiting")).toMatchObject([
      { code: null, wait: expect.toSatisfy((wait: number) => wait >= 1) },
      { code: 4_201, wait: expect.toSatisfy((wait: number) => wait === 0 || wait >= 1) },
    ]);
    expect(lines.find((line) => line.reset)).toMatchObject({ reset: "expired", lost: 4, cursor: "abcd-12" });
    expect(lines.at(-1)).toMatchObject({ code: 4_001 });
  });

  test("[W43] after an event that it cannot read, it starts over with a reset instead of requesting the event again", async () => {
    await using server = await startScriptedEvents();
    await using client = follow(server.url, { ...SSE, count: 1 });
    const first = await server.next();
    const withoutClosedAt = { minute: "", gone: [], tokens: [] };
    first.stream(HELLO, FULL, flareEvent(7, "candles-closed", withoutClosedAt));
    const second = await server.next();
    expect(second.query.get("after")).toBeNull();
    const start = { ...FULL, cursor: "abcd-7", resumed: "reset", snapshot: NOTHING };
    second.stream(HELLO, start, statusEvent(8));
    expect(await client.ended(), client.stderr()).toBe(0);
    const resets = linesOf(client).filter((line) => line.reset);
    expect(resets).toMatchObject([{ reset: "mismatch", lost: null, cursor: "abcd-7" }]);
    expect(eventsOf(client).map(({ seq }) => seq)).toEqual([8]);
  });

  test("[S6] [W17] a stream that sends only comments for longer than the silence limit is dropped", async () => {
    await using server = await startScriptedEvents();
    await using client = follow(server.url, SSE);
    const first = await server.next();
    first.stream({ ...HELLO, silence_limit_ms: 300 }, FULL);
    const comments = setInterval(() => first.response.write(": alive\n\n"), 50);
    const second = await server.next();
    clearInterval(comments);
    expect(second.query.get("after")).toBe("abcd-6");
    expect(client.stdout()).toContain("silent for 0 s");
  });
});

describe.skipIf(!hasPython)("the Python package by long poll", { concurrent: true }, () => {
  test("[P1] [P2] [P3] [P4] [P12] it starts with the lists, and requests each page after the cursor of the page before", async () => {
    await using server = await startScriptedEvents();
    await using client = follow(server.url, { transport: "poll", channels: ["flares.pro"], count: 2 });
    const first = await server.next();
    expect(Object.fromEntries(first.query)).toEqual({ channels: "flares.pro", snapshot: "true" });
    first.respond(200, "abcd-6", { cursor: "abcd-6", events: [], more: false, snapshot: NOTHING });
    const next = async (after: string) => {
      const request = await server.next();
      expect(request.query.get("after")).toBe(after);
      expect(Number(request.query.get("wait"))).toBeGreaterThan(0);
      expect(request.query.get("snapshot")).toBeNull();
      return request;
    };
    const events = [flareEvent(8, "flare-started", inserted("one"), 6)];
    (await next("abcd-6")).respond(200, "abcd-10", { events, more: true });
    // A page without events moves the cursor too.
    (await next("abcd-10")).respond(200, "abcd-20", { events: [], more: true });
    (await next("abcd-20")).respond(200, "abcd-21", { events: [statusEvent(21)], more: false });
    expect(await client.ended(), client.stderr()).toBe(0);
    expect(eventsOf(client).map(({ seq }) => seq)).toEqual([8, 21]);
  });

  test("[P5] a 204 response moves the cursor; without a cursor it counts as a failure", async () => {
    await using server = await startScriptedEvents();
    await using client = follow(server.url, { ...POLL, count: 1 });
    (await server.next()).respond(204, undefined);
    const again = await server.next();
    expect([again.query.get("after"), again.query.get("wait")]).toEqual(["abcd-6", "0"]);
    again.respond(204, "abcd-9");
    const moved = await server.next();
    expect(moved.query.get("after")).toBe("abcd-9");
    moved.respond(200, "abcd-10", { events: [statusEvent(10)], more: false });
    expect(await client.ended(), client.stderr()).toBe(0);
  });

  test("[P6] after a 410 it starts over with the lists and reports the loss, as a mismatch if the server states none", async () => {
    for (const lost of [{ reason: "expired", events: 4 }, undefined]) {
      await using server = await startScriptedEvents();
      await using client = follow(server.url, { ...POLL, count: 1 });
      (await server.next()).respond(410, "abcd-12", { code: "cursor-gone", lost });
      const restart = await server.next();
      expect([restart.query.get("after"), restart.query.get("snapshot")]).toEqual([null, "true"]);
      restart.respond(200, "abcd-12", { events: [], more: false, snapshot: NOTHING });
      (await server.next()).respond(200, "abcd-13", { events: [statusEvent(13)], more: false });
      expect(await client.ended(), client.stderr()).toBe(0);
      const reported = lost ? ["expired", 4] : ["mismatch", null];
      expect(linesOf(client).flatMap((line) => (line.reset ? [line.reset, line.lost] : []))).toEqual(
        reported,
      );
    }
  });

  test("[P8] after an immediate response without events it waits before the next request", async () => {
    await using server = await startScriptedEvents();
    await using client = follow(server.url, POLL);
    (await server.next()).respond(204, "abcd-6");
    (await server.next()).respond(204, "abcd-6");
    await client.said("stdout", /"waiting".*"a stale answer".*"wait": [1-9]/);
  });

  test("[P1] a response body that breaks the protocol counts as a failure", async () => {
    await using server = await startScriptedEvents();
    const wrong = [[1], { events: [7] }, { events: [{ type: "event", cursor: "abcd-7" }] }];
    const options = { ...POLL, count: 1 };
    await using client = followAll(wrong.map((_, at) => [server.url, { ...options, channels: [`${at}`] }]));
    const numbers = new Set<string | null>();
    for (const _ of [...wrong, ...wrong]) {
      const request = await server.next();
      const number = request.query.get("channels");
      expect(request.query.get("after")).toBe("abcd-6");
      const body = numbers.has(number) ? { events: [statusEvent(7)] } : wrong[Number(number)];
      request.respond(200, "abcd-7", body);
      numbers.add(number);
    }
    expect(await client.ended(), client.stderr()).toBe(0);
  });

  test("[P10] [W26] if a transport delivers nothing, it tries the next one with its cursor", async () => {
    await using server = await startScriptedEvents();
    await using client = follow(server.url, { after: "abcd-6", first_message_s: 3, count: 2 });
    // The WebSocket handshake gets no upgrade, so the client requests the reason.
    (await server.next()).respond(200, "abcd-6", { events: [], more: false });
    (await server.next()).respond(200, "abcd-6", { events: [], more: false });
    const silent = await server.next();
    expect(silent.query.get("after")).toBe("abcd-6");
    silent.response.writeHead(200, { "Content-Type": "text/event-stream" }).flushHeaders();
    const poll = await server.next();
    expect([poll.query.get("after"), poll.query.get("wait")]).toEqual(["abcd-6", "0"]);
    poll.respond(200, "abcd-8", { events: [statusEvent(7), statusEvent(8)], more: false });
    expect(await client.ended(), client.stderr()).toBe(0);
    expect(linesOf(client).filter(({ connection }) => connection === "connecting")).toMatchObject([
      { transport: "websocket" },
      { transport: "sse" },
      { transport: "poll" },
    ]);
  });
});
