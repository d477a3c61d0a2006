import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { describe, expect, test } from "vitest";
import { CLOSE_CODES, type View } from "../../../src/base/protocol/index.ts";
import { createConfig, startGateway } from "../../../src/index.ts";
import { greet, send, startScriptedServer } from "../../app/cli/scripted-server.ts";
import type { CliOutput } from "../../app/cli/spawn-cli.ts";
import { startLedGateway } from "../../examples/led-gateway.ts";
import { IndependentClient } from "../../support/clients/independent-client.ts";
import { eventsOf, follow, hasPython, linesOf, spawnPython, Truth } from "./python-client.ts";

/** Not compressed: under load, Node's own WebSocket at times stops reading while it inflates. */
const MARKET = {
  port: 0,
  logLevel: "silent",
  drain: "0",
  feed: "replay",
  warmup: "0s",
  speed: 300,
  compression: false,
} as const;
const TRANSPORTS = ["websocket", "sse", "poll"] as const;

/** Starts a gateway with a fast market; `check` compares a client with a direct follower. */
async function withMarket(
  work: (url: string, check: (client: CliOutput) => Promise<object>) => Promise<void>,
): Promise<void> {
  const gateway = await startGateway(createConfig(MARKET));
  const direct = new IndependentClient(gateway.url);
  try {
    await direct.connect();
    const truth = new Truth(direct);
    await work(gateway.url, async (client) => {
      expect(await client.ended()).toBe(0);
      const lines = linesOf(client);
      const last = lines.findLast(({ seq }) => seq !== undefined)?.seq ?? expect.fail("no event");
      while (direct.seq < last) {
        if (direct.closeCode !== undefined) await direct.connect();
        await direct.until(() => direct.seq >= last || direct.closeCode !== undefined);
      }
      return truth.compare(lines);
    });
  } finally {
    await direct.disconnect();
    await gateway.stop();
  }
}

describe.skipIf(!hasPython)("the Python package (python3-aiohttp)", () => {
  test("[L2] [L3] over each transport it returns every event once and in order, and exact lists", async () => {
    await withMarket(async (url, check) => {
      const clients = TRANSPORTS.map((transport) => follow(url, { transport, count: 150 }));
      for (const client of clients) {
        await using ending = client;
        expect(await check(ending)).toEqual({ events: 150, views: 3 });
      }
    });
  });

  test("[L3] after a lost connection it resumes from its cursor without gaps or repeats", async () => {
    await using gateway = await startLedGateway();
    await using client = follow(gateway.url, { channels: ["flares.pro"] });
    await client.said("stdout", '"reset"');
    for (const symbol of ["ONE", "TWO", "THREE"]) {
      gateway.start(symbol);
      gateway.surge(symbol);
      gateway.finish(symbol);
      gateway.cut();
    }
    gateway.start("FOUR");
    // A long line can arrive in parts: the fourth start counts once its line has ended.
    await client.said("stdout", /(?:"flare-started".*\n[\s\S]*){4}/);
    expect(eventsOf(client).map(({ event }) => event)).toEqual([
      ...Array(3).fill(["flare-started", "flare-surged", "flare-finished"]).flat(),
      "flare-started",
    ]);
    expect(linesOf(client).filter(({ reset }) => reset !== undefined)).toHaveLength(1);
  });

  test("[W29] over every transport, with names in the filter the flares that are running come before the first end", async () => {
    await using gateway = await startLedGateway();
    gateway.start("ONE");
    const streams = (["websocket", "sse", "poll"] as const).map((transport) =>
      follow(gateway.url, {
        ...{ channels: ["flares.pro"], filter: { names: ["flare-finished"] } },
        ...{ transport, count: 1 },
      }),
    );
    for (const client of streams) await client.said("stdout", '"reset"');
    gateway.finish("ONE");
    for (const client of streams) {
      expect(await client.ended(), client.stderr()).toBe(0);
      const reset = linesOf(client).find((line) => line.reset);
      expect(reset?.view?.flares?.pro).toMatchObject([{ token: { symbol: "ONE" } }]);
      expect(eventsOf(client)).toMatchObject([{ event: "flare-finished", view: null }]);
    }
  });

  test("[W45] a surge changes its lists as an update does", async () => {
    await using gateway = await startLedGateway();
    await using client = follow(gateway.url, { channels: ["flares.*"], count: 2 });
    await client.said("stdout", '"reset"');
    gateway.start("ONE");
    gateway.surge("ONE");
    expect(await client.ended()).toBe(0);
    const view = linesOf(client).findLast((line) => line.view)?.view;
    const snapshot = await (await fetch(`${gateway.url}/api/v1/snapshot`)).json();
    const { flares, explanations } = snapshot as Pick<View, "flares" | "explanations">;
    expect(view).toMatchObject({ flares: { pro: [{ recent_price_change: 28 }] } });
    expect(view).toMatchObject(JSON.parse(JSON.stringify({ explanations, flares: { pro: flares?.pro } })));
  });

  test("[W17] [W31] it leaves a silent connection and a draining server, and resumes from its cursor", async () => {
    await using server = await startScriptedServer();
    await using client = follow(server.url, { filter: { names: ["flare-started"] } });
    const first = await server.next();
    greet(first.socket, { cursor: "abcd-6", resumed: "reset" }, { silence_limit_ms: 300 });
    const second = await server.next();
    expect(second.query.get("after")).toBe("abcd-6");
    greet(second.socket, { cursor: "abcd-6", resumed: "full" });
    send(second.socket, { type: "heartbeat", cursor: "abcd-9", positions: {} });
    send(second.socket, { type: "goaway", reason: "draining", reconnect_after_ms: 100, window_ms: 100 });
    const third = await server.next();
    expect(third.query.get("after")).toBe("abcd-9");
    expect(linesOf(client).flatMap(({ reset }) => reset ?? [])).toEqual(["started"]);
  });

  test("[W3] a refused handshake stops it with the server's reason", async () => {
    await using gateway = await startLedGateway();
    await using client = follow(gateway.url, { channels: ["flares.nothing"] });
    await client.ended();
    expect(linesOf(client).at(-1)).toMatchObject({
      code: 400,
      stopped: expect.stringMatching(/HTTP 400 .*flares\.nothing/),
    });
  });

  test("[W26] the close code decides whether it stops, waits or reconnects at once", async () => {
    await using server = await startScriptedServer();
    await using client = follow(server.url, { after: "abcd-5" });
    const first = await server.next();
    expect(first.query.get("after")).toBe("abcd-5");
    greet(first.socket, { cursor: "abcd-5", resumed: "full" });
    first.socket.close(4_201);
    const second = await server.next();
    greet(second.socket, { cursor: "abcd-5", resumed: "full" });
    second.socket.close(4_101);
    const third = await server.next();
    greet(third.socket, { cursor: "abcd-5", resumed: "full" });
    third.socket.close(4_000);
    await client.ended();
    const waits = linesOf(client).filter(({ connection }) => connection === "waiting");
    expect(waits).toMatchObject([
      { code: 4_201, wait: 0 },
      { code: 4_101, wait: expect.toSatisfy((wait: number) => wait >= 1 && wait <= 31) },
    ]);
    expect(linesOf(client).at(-1)).toEqual({
      stopped: "the server rejected this client: close code 4000",
      code: 4_000,
    });
  });

  test.each(["unauthorized", "forbidden"] as const)(
    "[W26] a key that is %s ends it with what this means",
    async (reason) => {
      const { code, meaning } = CLOSE_CODES[reason];
      await using server = await startScriptedServer();
      await using client = follow(server.url);
      (await server.next()).socket.close(code);
      await client.ended();
      const stopped = `the server rejected this client: close code ${code}: ${meaning}`;
      expect(linesOf(client).at(-1)).toEqual({ stopped, code });
    },
  );

  const FOUND = "HTTP/1.1 302 Found\r\nConnection: close\r\nLocation: ";
  test.each([
    ["websocket", "HTTP/1.1 403 No\r\n\r\n", "no WebSocket: HTTP 403 Invalid response status"],
    ["sse", "SSH-2.0-OpenSSH_9.2\r\n", "no answer from HOST: the response is not HTTP"],
    ["sse", "", "no answer from HOST: the server closed the connection"],
    ["sse", "HTTP/1.1 200 OK\r\nX: y", "no answer from HOST: the server closed the connection"],
    ["sse", `${FOUND}http://[?ticket=A\r\n\r\n`, "no answer from HOST: invalid URL"],
    ["sse", `${FOUND}/?ticket=A\r\n\r\n`, "no answer from HOST: too many redirects"],
    ["sse", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n", "failed: the response broke off"],
  ])(
    "over %s after the response %j it waits with the reason %j, without objects or URLs",
    async (transport, response, reason) => {
      const server = createTcpServer((socket) => {
        socket.on("error", () => {});
        // The request with which the client finds out why a WebSocket did not open.
        socket.once("data", (data) =>
          socket.end(`${data}`.includes("limit=1 ") ? "HTTP/1.1 200 OK\r\n\r\n" : response),
        );
      });
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
      const { port } = server.address() as AddressInfo;
      const host = `127.0.0.1:${port}`;
      {
        await using client = follow(`http://${host}`, { transport, key: "KEY1" });
        await client.said("stdout", '"waiting"');
        const waiting = linesOf(client).find(({ connection }) => connection === "waiting");
        expect(waiting?.reason).toBe(reason.replace("HOST", host));
      }
      server.close();
      await once(server, "close");
    },
  );

  test("[K1] [K5] a key is sent in a header with each request, never in a URL", async ({
    onTestFinished,
  }) => {
    const asked: (string | undefined)[][] = [];
    const server = createServer(({ url, headers }, response) => {
      asked.push([url?.split("?")[0], headers.authorization, /KEY1/.exec(`${url}`)?.[0]]);
      response.writeHead(401, { "Content-Type": "application/problem+json" }).end('{"detail":"no key"}');
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    await using client = follow(`http://127.0.0.1:${port}`, { key: "KEY1" });
    await client.ended();
    expect(linesOf(client).at(-1)).toMatchObject({ code: 401, stopped: expect.stringContaining("no key") });
    expect(asked).toEqual([
      ["/api/v1/stream", "Bearer KEY1", undefined],
      ["/api/v1/events", "Bearer KEY1", undefined],
    ]);
  });

  test("a key function is called again after it fails and after a refusal; the client stops at the second refusal", async ({
    onTestFinished,
  }) => {
    const asked: (string | undefined)[] = [];
    const server = createServer(({ headers }, response) => {
      asked.push(headers.authorization);
      response.writeHead(401, { "Content-Type": "application/problem+json" }).end("{}");
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const keys = [null, "ENDED", "OTHER"];
    await using client = follow(`http://127.0.0.1:${port}`, { keys, transport: "sse", floor_s: 0.01 });
    expect(await client.ended(), client.stderr()).toBe(0);
    expect(asked).toEqual(["Bearer ENDED", "Bearer OTHER"]);
    expect(linesOf(client)).toMatchObject([
      ...[{ connection: "connecting" }, { connection: "waiting", reason: "no key: no issuer" }],
      ...[{ connection: "connecting" }, { connection: "waiting", code: 401 }],
      ...[{ connection: "connecting" }, { connection: "closed", code: 401 }, { code: 401 }],
    ]);
  });

  test("[L3] a program that gives up a wait for an event gets it at its next wait", async () => {
    await using gateway = await startLedGateway();
    await using client = follow(gateway.url, { channels: ["flares.pro"], impatient: true, count: 1 });
    await client.said("stdout", '"gave_up"');
    gateway.start("ONE");
    expect(await client.ended(), client.stderr()).toBe(0);
    expect(eventsOf(client)).toMatchObject([{ event: "flare-started" }]);
    expect(linesOf(client).filter(({ reset }) => reset !== undefined)).toHaveLength(1);
  });

  test("a filter reaches the server, and the REST client returns the server's lists as typed objects", async () => {
    await using gateway = await startLedGateway();
    const filter = { symbols: ["TWO"], names: ["flare-started"] };
    await using client = follow(gateway.url, { channels: ["flares.pro"], filter, count: 1 });
    await client.said("stdout", '"reset"');
    gateway.start("ONE");
    gateway.finish("ONE");
    gateway.startOnExchange("BTC/USDT");
    gateway.start("TWO");
    expect(await client.ended()).toBe(0);
    const response = await fetch(`${gateway.url}/api/v1/snapshot`);
    const { cursor, flares } = (await response.json()) as { cursor: string; flares: { pro: object[] } };
    expect(eventsOf(client)).toMatchObject([{ event: "flare-started", cursor }]);
    await using rest = spawnPython("test/clients/python/print_snapshot.py", gateway.url);
    expect(await rest.ended(), rest.stderr()).toBe(0);
    // Absent fields are None.
    expect(JSON.parse(rest.stdout())).toMatchObject({
      cursor,
      pro: flares.pro,
      pairs: ["BTC/USDT"],
      rejected: 404,
    });
  });

  test("[W3] [W38] after a rejection over HTTP it waits for Retry-After, or stops if a retry is useless", async () => {
    await using server = await startScriptedServer();
    const problem = { "Content-Type": "application/problem+json" };
    server.refuse = { status: 503, headers: { ...problem, "Retry-After": "2" }, body: "{}" };
    await using client = follow(server.url);
    await client.said("stdout", /"waiting".*"code": 503, "wait": [23]\.\d/);
    server.refuse = { status: 400, headers: problem, body: '{"detail":"wrong filter"}' };
    await client.ended();
    expect(linesOf(client).at(-1)).toEqual({
      stopped: "the server rejected this client: HTTP 400 wrong filter",
      code: 400,
    });
  });
});
