import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { formatKeys, mintSecret } from "../../src/gateway/keys/index.ts";
import { isInstalled } from "../scale/cluster/redis-servers.ts";
import { HoppingClient } from "../support/clients/hopping-client.ts";
import { IndependentClient } from "../support/clients/independent-client.ts";
import { expectOneState } from "../support/expect/one-state.ts";
import { expectAllStored } from "../support/expect/stored-seqs.ts";
import { createChance } from "../support/random/chance.ts";
import type { Finish } from "../support/servers/edges.ts";
import { shippedCaddy, shippedNginx } from "../support/servers/shipped-proxies.ts";
import { findInstalled } from "../support/setup/debian-package.ts";
import { findProgram } from "../tools/bench/harness/on-demand.ts";
import { type Edge, EdgeProcesses } from "./edge-processes.ts";

const CADDY = findProgram("caddy", "usr/bin/caddy");
const HAS_NGINX = findInstalled(() => isInstalled("nginx", "-v"), "nginx-light");
/** Streams that an address may hold at an edge. */
const MAX_STREAMS = 12;
/** The first client of a drain is closed at once, and the second one half a minute later. */
const SETTINGS = ["--max-sockets-per-ip", `${MAX_STREAMS}`, "--stale-after", "1s", "--drain", "1m"];
/**
 * The probability that all of them belong to the same edge is two in a million. They differ early,
 * because Caddy's hash sends most addresses that differ only in the last digit to the same edge.
 */
const ADDRESSES = Array.from({ length: 20 }, (_, at) => `127.${97 + at}.${(at * 91) % 250}.${at + 2}`);
const NEWEST = "/api/v1/newest";

/** Sends a request from this loopback address. */
async function ask(url: string, localAddress: string, headers = {}, method = "GET") {
  const sent = request(url, { localAddress, headers, method, agent: false }).end();
  const [response] = await once(sent, "response");
  return { status: Number(response.statusCode), headers: response.headers, body: await text(response) };
}

/** Opens a WebSocket from this address. Resolves with it, or with the status of the refusal. */
async function open(url: string, localAddress: string, query: string, onTestFinished: Finish) {
  const address = `${url.replace("http", "ws")}/api/v1/stream?channels=flares.*&${query}`;
  const socket = new WebSocket(address, { localAddress });
  onTestFinished(() => socket.terminate());
  return new Promise<WebSocket | number | undefined>((resolve) => {
    socket.on("open", () => resolve(socket));
    socket.on("unexpected-response", (_request, response) => resolve(response.statusCode));
    socket.on("error", () => {});
  });
}

/** Retries until the server accepts the connection. */
async function connected(client: IndependentClient): Promise<void> {
  await expect
    .poll(async () => {
      await client.connect();
      return client.answer;
    })
    .toBeDefined();
}

const PROXIES = [
  ["nginx", HAS_NGINX],
  ["caddy", CADDY !== undefined],
] as const;

/** Starts edges and the proxies before them for a block of tests, which run in order. */
function sharedEdges(args: readonly string[]) {
  const urls = { nginx: "", caddy: "" };
  let running: EdgeProcesses | undefined;
  beforeAll(async () => {
    running = await EdgeProcesses.start(args);
    if (HAS_NGINX) urls.nginx = await running.startProxy("nginx", shippedNginx);
    if (CADDY) urls.caddy = await running.startProxy(CADDY, shippedCaddy);
  });
  afterAll(() => running?.[Symbol.asyncDispose]());
  const sockets = () => Promise.all((running?.edges ?? []).map((edge) => edge.sockets()));
  return {
    urls,
    running: () => {
      if (!running) throw new Error("the edges have not started");
      return running;
    },
    sockets,
    /** Resolves when the edges have noticed that the sockets of previous tests are closed. */
    idle: () => expect.poll(async () => Math.max(...(await sockets()))).toBe(0),
    /** Resolves when Caddy, which checks the edges, knows this answer of both. nginx does not. */
    checked: async (name: keyof typeof urls, status: 200 | 503 = 200) => {
      if (name === "nginx") return;
      const counts = () => Promise.all((running?.edges ?? []).map((edge) => edge.checks(status)));
      const before = await counts();
      // Caddy has taken the first answer when it asks for the second one.
      const hasTwo = async () => (await counts()).every((count, at) => count >= (before[at] ?? 0) + 2);
      await expect.poll(hasTwo).toBe(true);
    },
  };
}

describe("two edges with one key file, behind a proxy", () => {
  const directory = mkdtempSync(join(tmpdir(), "flarewire-edge-keys-"));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  const { id, digest, text: secret } = mintSecret("fw");
  const file = join(directory, "keys.json");
  const key = { id, sha256: digest.toString("hex"), plan: "pro", requests_per_minute: 1_000 } as const;
  writeFileSync(file, formatKeys([key]));
  const bearer = { authorization: `Bearer ${secret}` };
  const { urls, running, sockets, idle, checked } = sharedEdges(["--keys", file, "--drain", "1m"]);

  async function ticketOf(url: string, address: string): Promise<string> {
    const { status, body } = await ask(`${url}/api/v1/tickets`, address, bearer, "POST");
    expect(status, body).toBe(201);
    return JSON.parse(body).ticket;
  }

  test("[K4] [K6] a ticket is valid only at the edge that issued it, and each edge counts a key's requests itself", async ({
    onTestFinished,
  }) => {
    const [one, other] = running().edges;
    const query = `ticket=${await ticketOf(one.url, "127.0.0.1")}`;
    expect(await open(other.url, "127.0.0.1", query, onTestFinished)).toBe(401);
    expect(await open(one.url, "127.0.0.1", query, onTestFinished)).toBeInstanceOf(WebSocket);
    const left = async ({ url }: Edge) => {
      const { headers } = await ask(`${url}${NEWEST}`, "127.0.0.1", bearer);
      return Number(/r=(\d+)/.exec(String(headers.ratelimit))?.[1]);
    };
    const before = await left(other);
    let last = 1_000;
    while (last > 900) last = await left(one);
    expect(await left(other)).toBeGreaterThanOrEqual(before - 1);
  });

  test.for(PROXIES)(
    "[K4] [W32] %s sends an address always to the same edge, which accepts its tickets and ends its previous connection",
    async ([name, isThere], { skip, onTestFinished }) => {
      if (!isThere) skip();
      await idle();
      for (const address of ADDRESSES) {
        const connect = async () => {
          const query = `client=page-1234&ticket=${await ticketOf(urls[name], address)}`;
          const socket = await open(urls[name], address, query, onTestFinished);
          if (socket instanceof WebSocket) return socket;
          throw new Error(`${address} got ${socket}`);
        };
        const closed = once(await connect(), "close");
        await connect();
        expect(String((await closed)[1])).toBe("superseded");
      }
      for (const count of await sockets()) expect(count).toBeGreaterThan(0);
    },
  );

  test.for(PROXIES)(
    "[K4] [W25] behind %s, a ticket is never sent to another edge while its edge drains, and the other edge issues tickets when its edge is killed",
    async ([name, isThere], { skip, onTestFinished }) => {
      if (!isThere) skip();
      await checked(name);
      const connect = async () => {
        const query = `ticket=${await ticketOf(urls[name], "127.0.0.1")}`;
        return open(urls[name], "127.0.0.1", query, onTestFinished);
      };
      await idle();
      const [one, other] = running().edges;
      for (let count = 0; count < 2; count += 1) expect(await connect()).toBeInstanceOf(WebSocket);
      const own = (await one.sockets()) > 0 ? one : other;
      if (name === "nginx") {
        own.kill("SIGTERM");
        const draining = async () => (await fetch(`${own.url}/readyz`)).status;
        await expect.poll(draining).toBe(503);
        expect(await connect()).toBe(503);
      }
      own.kill("SIGKILL");
      await own.ended();
      // A proxy answers 502 to a POST over a connection that broke, because it may not repeat it.
      await expect
        .poll(async () => {
          const { status, body } = await ask(`${urls[name]}/api/v1/tickets`, "127.0.0.1", bearer, "POST");
          if (status !== 201) return status;
          const query = `ticket=${JSON.parse(body).ticket}`;
          return open(urls[name], "127.0.0.1", query, onTestFinished);
        })
        .toBeInstanceOf(WebSocket);
      await own.start();
    },
  );
});

describe("two edges behind a proxy", () => {
  const { urls, running, sockets, idle, checked } = sharedEdges(SETTINGS);

  /** Returns the edge that serves this client and the other one. */
  async function edgesOf(url: string): Promise<readonly [Edge, Edge]> {
    await idle();
    const [one, other] = running().edges;
    const client = new IndependentClient(url);
    await connected(client);
    const isFirst = (await one.sockets()) > 0;
    await client.disconnect();
    return isFirst ? [one, other] : [other, one];
  }

  test.for(PROXIES)(
    "[W33] behind %s, an address at its limit gets 503 and takes no edge from other addresses",
    async ([name, isThere], { skip, onTestFinished }) => {
      if (!isThere) skip();
      await idle();
      const [greedy = "", ...others] = ADDRESSES;
      const statuses: unknown[] = [];
      for (let at = 0; at <= 2 * MAX_STREAMS; at += 1)
        statuses.push(await open(urls[name], greedy, "", onTestFinished));
      const accepted = statuses.filter((status) => status instanceof WebSocket).length;
      // nginx asks the next edge on 503. Caddy does not.
      expect(accepted).toBe(name === "nginx" ? 2 * MAX_STREAMS : MAX_STREAMS);
      expect(statuses.at(-1)).toBe(503);
      const before = await sockets();
      for (const address of others)
        expect(await open(urls[name], address, "", onTestFinished)).toBeInstanceOf(WebSocket);
      const counts = await sockets();
      for (const [index, count] of counts.entries()) expect(count).toBeGreaterThan(before[index] ?? 0);
    },
  );

  test.for(PROXIES)(
    "[L3] behind %s, clients of all transports continue without a hole when their edge is killed, and when it is back",
    async ([name, isThere], { skip }) => {
      if (!isThere) skip();
      const url = urls[name];
      await checked(name);
      const [victim] = await edgesOf(url);
      const clients = [1, 2, 3].map((seed) => new HoppingClient(() => [url], createChance(seed)));
      const following = clients.map((client) => client.follow());
      const move = async () => {
        const targets = clients.map(({ seq }) => seq + 20);
        await expect.poll(() => clients.every(({ seq }, at) => seq > (targets[at] ?? 0))).toBe(true);
      };
      try {
        await move();
        victim.kill("SIGKILL");
        await victim.ended();
        await move();
        await victim.start();
        await move();
      } finally {
        for (const client of clients) client.end();
        await Promise.all(following);
      }
      for (const client of clients) {
        expect([client.trouble, client.resets, client.epochs.size]).toEqual([[], 1, 1]);
        await expectAllStored(url, client.received.events);
        await client.connect();
        await expectOneState(url, client);
        await client.disconnect();
      }
    },
  );

  test.for(PROXIES)(
    "[W25] [W31] behind %s, a client of an edge that drains resumes at the other one, while the first still serves its other clients",
    async ([name, isThere], { skip }) => {
      if (!isThere) skip();
      await checked(name);
      const [draining] = await edgesOf(urls[name]);
      const [first, second] = [new IndependentClient(urls[name]), new IndependentClient(urls[name])];
      await first.connect();
      await second.connect();
      draining.kill("SIGTERM");
      await first.until(() => first.closeCode !== undefined);
      expect(first.closeCode).toBe(4200);
      await connected(first);
      expect(first.answer).toMatchObject({ resumed: "full" });
      expect([draining.isRunning, second.closeCode]).toEqual([true, undefined]);
      const { seq } = first;
      await first.until(() => first.seq > seq + 5);
      await second.disconnect();
      expect(await draining.ended()).toBe(0);
      await draining.start();
      await connected(second);
      expect(second.answer).toMatchObject({ resumed: "full" });
      for (const client of [first, second]) {
        await expectAllStored(urls[name], client.received.events);
        await client.disconnect();
      }
    },
  );

  test.for(PROXIES)(
    "behind %s, without a leader the edges are not ready, but still serve the last data and new clients",
    async ([name, isThere], { skip, onTestFinished }) => {
      if (!isThere) skip();
      await running().killLeader();
      const status = async (path: string) => (await ask(`${urls[name]}${path}`, "127.0.0.1")).status;
      await expect.poll(() => status("/readyz")).toBe(503);
      await checked(name, 503);
      expect(await status("/api/v1/flares")).toBe(200);
      expect(await open(urls[name], "127.0.0.1", "", onTestFinished)).toBeInstanceOf(WebSocket);
    },
  );
});
