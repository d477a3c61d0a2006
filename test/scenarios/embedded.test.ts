import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type FastifyInstance, fastify } from "fastify";
import { test as base, expect } from "vitest";
import { createConfig, createGatewayPlugin, type GatewayPlugin } from "../../src/index.ts";
import { LedMarket } from "../examples/led-gateway.ts";
import { IndependentClient } from "../support/clients/independent-client.ts";
import { SseClient } from "../support/clients/sse-client.ts";
import { expectOneState } from "../support/expect/one-state.ts";

const PREFIX = "/flarewire";

interface Embedded extends GatewayPlugin {
  readonly host: FastifyInstance;
  readonly market: LedMarket;
  /** Starts to listen. Resolves with the address of Flarewire, including the prefix. */
  listen(): Promise<string>;
}

function embed(host: FastifyInstance, settings: Parameters<typeof createConfig>[0] = {}): Embedded {
  const market = new LedMarket();
  const created = createGatewayPlugin(createConfig({ drain: "0", logLevel: "silent", ...settings }), {
    source: market,
  });
  host.register(created.plugin, { prefix: PREFIX });
  const listen = async () => `${await host.listen({ port: 0, host: "127.0.0.1" })}${PREFIX}`;
  return { ...created, host, market, listen };
}

const test = base.extend<{ host: FastifyInstance }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a pattern.
  host: async ({}, use) => {
    const host = fastify();
    await use(host);
    await host.close();
  },
});

const seqsOf = (events: readonly Record<string, unknown>[]) => events.map(({ seq }) => seq);

test("[L2] inside another server, below the prefix, REST, WebSocket, server-sent events, long poll and the process get the same events", async ({
  host,
}) => {
  const { market, listen, gateway } = embed(host);
  const url = await listen();
  const { events } = await gateway;
  const emitted: string[] = [];
  events.on("event", ({ name, channel }) => emitted.push(`${name} ${channel}`));
  const client = new IndependentClient(url);
  await client.connect();
  const stream = await SseClient.open(`${url}/api/v1/events`);
  await stream.until(() => stream.messages("subscribed").length > 0);
  const began = client.cursor;
  market.start("ONE");
  await client.until(() => client.received.events.length > 0);
  market.surge("ONE");
  await client.until(() => client.received.events.some(({ name }) => name === "flare-surged"));
  await expectOneState(url, client);
  market.finish("ONE");
  await client.until(() => client.received.events.some(({ name }) => name === "flare-finished"));
  await expectOneState(url, client);

  const page = await fetch(`${url}/api/v1/events?after=${began}&limit=1`);
  expect(page.headers.get("link")).toContain(`<${PREFIX}/api/v1/events?after=`);
  const polled = (await (await fetch(`${url}/api/v1/events?after=${began}`)).json()) as {
    events: Record<string, unknown>[];
  };
  await stream.until(() => stream.seqs.length >= polled.events.length);
  expect(polled.events.length).toBeGreaterThan(1);
  expect(seqsOf(client.received.events)).toEqual(seqsOf(polled.events));
  expect(stream.seqs).toEqual(seqsOf(polled.events));
  expect(emitted).toEqual(polled.events.map(({ name, channel }) => `${name} ${channel}`));
  const flares = await fetch(`${url}/api/v1/flares`);
  expect(flares.headers.get("link")).toContain(`<${PREFIX}/api/v1/stream>`);
  for (const path of ["/healthz", "/readyz", "/metrics"]) expect((await fetch(url + path)).status).toBe(200);
  await client.disconnect();
});

test("responses outside the prefix come from the host, and errors below it are problems", async ({
  host,
}) => {
  const { listen } = embed(host);
  host.setErrorHandler((_error, _request, reply) => reply.code(418).send({ mine: true }));
  host.setNotFoundHandler((_request, reply) => reply.code(404).send({ nothing: "mine" }));
  host.get("/fails", () => {
    throw new Error("mine");
  });
  host.get("/readyz", () => ({ ready: "mine" }));
  const url = await listen();
  const root = url.slice(0, -PREFIX.length);
  const ask = async (address: string, method = "GET") => {
    const answer = await fetch(address, { method });
    const { type, ...body } = (await answer.json()) as Record<string, unknown>;
    return [answer.status, type ?? body, answer.headers.get("x-content-type-options")];
  };
  expect(await ask(`${root}/fails`)).toEqual([418, { mine: true }, null]);
  expect(await ask(`${root}/nowhere`)).toEqual([404, { nothing: "mine" }, null]);
  expect(await ask(`${root}/readyz`)).toEqual([200, { ready: "mine" }, null]);
  const problem = (code: string) => `urn:flarewire:problem:${code}`;
  expect(await ask(`${url}/nowhere`)).toEqual([404, problem("not-found"), "nosniff"]);
  expect((await fetch(url)).url).toBe(`${url}/`);
  expect(await ask(`${url}/api/v1/flares`, "POST")).toEqual([405, problem("method-not-allowed"), "nosniff"]);
  expect(await ask(`${url}/api/v1/events?limit=0`)).toEqual([400, problem("invalid-parameter"), "nosniff"]);
  const options = await fetch(`${url}/api/v1/stream`, { method: "OPTIONS" });
  expect([options.status, options.headers.get("allow")]).toEqual([204, "GET, OPTIONS"]);
});

test("the host's hooks and serializers do not change responses below the prefix", async ({ host }) => {
  host.addHook("preSerialization", async (_request, _reply, payload) => ({ wrapped: payload }));
  host.setReplySerializer((payload) => `mine ${JSON.stringify(payload)}`);
  const { listen, gateway } = embed(host);
  const url = await listen();
  await gateway;
  for (const path of ["/healthz", "/readyz", "/api/v1/flares", "/nowhere"])
    expect(await (await fetch(url + path)).json(), path).not.toHaveProperty("wrapped");
});

test("[W25] [W31] closing the host disconnects the clients within the drain time and releases the data directory", async ({
  onTestFinished,
}) => {
  const data = mkdtempSync(join(tmpdir(), "flarewire-embedded-"));
  onTestFinished(() => rmSync(data, { recursive: true, force: true }));
  const host = fastify();
  const { listen, gateway } = embed(host, { data, drain: "2100ms" });
  const url = await listen();
  await gateway;
  const client = new IndependentClient(url);
  await client.connect();
  const stream = await SseClient.open(`${url}/api/v1/events`);
  await stream.until(() => stream.messages("subscribed").length > 0);
  await host.close();
  expect(client.closeCode).toBe(4_200);
  expect(client.received.goaways).toHaveLength(1);
  await stream.ended;
  expect(stream.messages("close")).toMatchObject([{ reason: "draining" }]);

  const again = fastify();
  const second = embed(again, { data });
  const resumed = new IndependentClient(await second.listen());
  resumed.cursor = client.cursor;
  await resumed.connect();
  expect(resumed.received.answers).toMatchObject([{ resumed: "full" }]);
  await again.close();
});

test("a drain longer than the host's plugin timeout is shortened to it, and the host closes normally", async () => {
  const host = fastify({ pluginTimeout: 3_000 });
  const { listen, gateway } = embed(host, { drain: "10m" });
  const url = await listen();
  await gateway;
  const clients = [1, 2, 3].map(() => new IndependentClient(url));
  for (const client of clients) await client.connect();
  await host.close();
  for (const client of clients) expect(client.closeCode).toBe(4_200);
});

test("the host's own upgrades work next to the stream", async ({ host }) => {
  const { listen } = embed(host);
  host.get("/", () => "mine");
  host.server.on("upgrade", (message, socket) => {
    if (message.url === "/own")
      socket.end("HTTP/1.1 101 Switching Protocols\r\nUpgrade: own\r\nConnection: Upgrade\r\n\r\n");
  });
  const url = await listen();
  const asked = request(url.replace(PREFIX, "/own"), { headers: { connection: "Upgrade", upgrade: "own" } });
  const [answer] = await once(asked.end(), "upgrade");
  expect(answer.headers.upgrade).toBe("own");
  const client = new IndependentClient(url);
  await client.connect();
  expect(client.received.hellos).toHaveLength(1);
  await client.disconnect();
});

test("a host with a WebSocket plugin gets an error: Flarewire then needs its own server", async () => {
  const host = fastify();
  host.register(createRequire(import.meta.url)("@fastify/websocket"));
  const { gateway } = embed(host);
  await expect(host.ready()).rejects.toThrow(/run Flarewire on its own server with startGateway/);
  await expect(gateway).rejects.toThrow(/@fastify\/websocket/);
  await host.close();
});

test("the host's start fails with a second registration, or with a data directory in use", async ({
  onTestFinished,
}) => {
  const host = fastify();
  const { plugin } = embed(host);
  host.register(plugin, { prefix: "/again" });
  await expect(host.ready()).rejects.toThrow("this plugin is already registered");
  await host.close();

  const data = mkdtempSync(join(tmpdir(), "flarewire-embedded-"));
  onTestFinished(() => rmSync(data, { recursive: true, force: true }));
  const first = fastify();
  embed(first, { data });
  await first.ready();
  const other = fastify();
  embed(other, { data });
  await expect(other.ready()).rejects.toThrow("is in use by another process");
  await first.close();
  await other.close();
});

test("a host that closes before it is ready stops the gateway", async () => {
  const host = fastify();
  const { gateway } = embed(host);
  host.register(async () => {
    throw new Error("another plugin failed");
  });
  await expect(host.ready()).rejects.toThrow("another plugin failed");
  await host.close();
  await expect(gateway).rejects.toThrow("the host closed before it was ready");
});
