import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { formatKeys, type Key, mintSecret } from "../../src/gateway/keys/index.ts";
import { IndependentClient } from "../support/clients/independent-client.ts";
import type { Finish } from "../support/servers/edges.ts";
import {
  type KeptConnection,
  keptConnection,
  sharedWorkerGateway,
  startWorkerGateway,
  twoWorkers,
} from "../support/servers/worker-gateway.ts";

const SSE = { accept: "text/event-stream" };

/** These tests wait for no events, so the market is slow. */
const QUIET = ["--speed", "10"];

/** Writes a key file, and returns it with the header fields for each key. */
function keyFile(onTestFinished: Finish, ...limits: readonly Partial<Key>[]) {
  const directory = mkdtempSync(join(tmpdir(), "flarewire-worker-keys-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const file = join(directory, "keys.json");
  const write = (keys: readonly Key[]) => {
    writeFileSync(`${file}.new`, formatKeys(keys));
    renameSync(`${file}.new`, file);
  };
  const minted = limits.map((more) => {
    const { text, id, digest } = mintSecret("fw");
    const key: Key = { id, sha256: digest.toString("hex"), plan: "pro", ...more };
    return { key, bearer: { authorization: `Bearer ${text}` } };
  });
  write(minted.map(({ key }) => key));
  return { file, write, bearers: minted.map(({ bearer }) => bearer) };
}

async function ticketOf(at: KeptConnection, bearer: Record<string, string>): Promise<string> {
  const { status, body } = await at.ask("/api/v1/tickets", bearer, "POST");
  expect(status, body).toBe(201);
  return JSON.parse(body).ticket;
}

/** Resolves with the status of the handshake: 101 when the connection is open. */
function handshake(url: string, query: string, onTestFinished: Finish): Promise<number> {
  const socket = new WebSocket(`${url.replace("http", "ws")}/api/v1/stream?${query}`);
  onTestFinished(() => socket.terminate());
  return new Promise((resolve) => {
    socket.on("open", () => resolve(101));
    socket.on("unexpected-response", (_request, response) => resolve(response.statusCode ?? 0));
    socket.on("error", () => {});
  });
}

describe("workers of a server that requires keys", () => {
  const keys = keyFile(afterAll, {}, { requests_per_minute: 20 });
  const gateway = sharedWorkerGateway(...QUIET, "--keys", keys.file, "--anonymous", "off");

  test("[K4] a ticket from one worker opens exactly one connection at any worker, even with concurrent attempts", {
    timeout: 120_000,
  }, async ({ onTestFinished }) => {
    const [bearer = {}] = keys.bearers;
    const { url } = gateway();
    const [one, other] = await twoWorkers(url, onTestFinished);
    const ticket = await ticketOf(one, bearer);
    const path = `/api/v1/events?channels=flares.pro&ticket=${ticket}`;
    const refused = await other.ask("/api/v1/events?channels=flares.nope", { ...SSE, ...bearer });
    expect(refused.status).toBe(400);
    expect((await other.ask(path, SSE)).status).toBe(200);
    const again = await one.ask(path, SSE);
    expect([again.status, again.headers["www-authenticate"]]).toEqual([
      401,
      expect.stringContaining("Bearer"),
    ]);

    for (let round = 0; round < 5; round += 1) {
      const contested = await ticketOf(one, bearer);
      const query = `channels=flares.pro&ticket=${contested}`;
      const statuses = await Promise.all(
        Array.from({ length: 12 }, () => handshake(url, query, onTestFinished)),
      );
      expect(statuses.toSorted()).toEqual([101, ...Array.from({ length: 11 }, () => 401)]);
    }
  });

  test("[K6] [K7] a key's rate limit applies across workers, and a revoked key loses its connections at all of them", {
    timeout: 120_000,
  }, async ({ onTestFinished }) => {
    const [, bearer = {}] = keys.bearers;
    const [one, other] = await twoWorkers(gateway().url, onTestFinished);
    const streams = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const ticket = await ticketOf(one, bearer);
        const client = new IndependentClient(gateway().url);
        await client.connect([["ticket", ticket]]);
        return client;
      }),
    );
    // Tickets and streams have used eight requests. Each worker learns the other's count in a
    // moment.
    const left = async (at: KeptConnection) =>
      Number(/r=(\d+)/.exec(String((await at.ask("/api/v1/newest", bearer)).headers.ratelimit))?.[1]);
    await expect.poll(() => left(one), { interval: 300 }).toBeLessThanOrEqual(11);
    for (let asked = 0; asked < 20; asked += 1) await one.ask("/api/v1/newest", bearer);
    await expect.poll(async () => (await other.ask("/api/v1/newest", bearer)).status).toBe(429);

    // A replacement worker continues from the current count.
    process.kill(gateway().pids()[0] ?? 0, "SIGKILL");
    await gateway().began(3);
    const kept = streams.filter(({ closeCode }) => closeCode === undefined);
    const [here, there] = await twoWorkers(gateway().url, onTestFinished);
    for (const at of [here, there]) {
      const statuses: number[] = [];
      // The key regains a request every 3 seconds, so a worker that counted from zero would accept
      // all ten.
      for (let asked = 0; asked < 10; asked += 1)
        statuses.push((await at.ask("/api/v1/newest", bearer)).status);
      expect(statuses).toContain(429);
    }

    keys.write([]);
    await Promise.all(streams.map((client) => client.until(() => client.closeCode !== undefined)));
    // Some connections were cut when the worker was killed.
    const codes = streams.map(({ closeCode }) => closeCode);
    expect(codes.filter((code) => code !== 1006)).toEqual(kept.map(() => 4003));
    for (const at of [here, there]) expect((await at.ask("/api/v1/newest", bearer)).status).toBe(401);
  });
});

test("[W33] [W32] each worker has its own connection limits, and a client that moves to another worker leaves no connection behind", {
  timeout: 120_000,
}, async ({ onTestFinished }) => {
  const {
    file,
    bearers: [bearer],
  } = keyFile(onTestFinished, { connections: 1 });
  const args = [...QUIET, "--keys", file, "--max-sockets-per-ip", "3"];
  const gateway = await startWorkerGateway(onTestFinished, ...args);
  const [one, other] = await twoWorkers(gateway.url, onTestFinished);
  const third = await sameWorker(await one.worker(), gateway.url, onTestFinished);
  const follow = (at: KeptConnection) => at.ask("/api/v1/events?channels=status", { ...SSE, ...bearer });
  expect((await follow(one)).status).toBe(200);
  const second = await follow(third);
  expect([second.status, JSON.parse(second.body).detail]).toEqual([
    503,
    expect.stringContaining("1 with one key"),
  ]);
  expect((await follow(other)).status).toBe(200);

  const query = new URLSearchParams("channels=*&client=0123456789abcdef");
  const moves = Array.from({ length: 5 }, () => new IndependentClient(gateway.url));
  for (const [index, client] of moves.entries()) {
    await client.connect(query);
    expect(client.received.answers).toHaveLength(1);
    // Wait, because a predecessor that is still closing two connections later is cut.
    const previous = moves[index - 1];
    await previous?.until(() => previous.closeCode !== undefined);
  }
  const before = moves.slice(0, -1);
  expect(before.map(({ closeCode }) => closeCode)).toEqual([4203, 4203, 4203, 4203]);
  expect(moves.at(-1)?.closeCode).toBeUndefined();
  const accepted = async () => {
    const handshakes = Array.from({ length: 12 }, () =>
      handshake(gateway.url, "channels=status", onTestFinished),
    );
    return (await Promise.all(handshakes)).filter((status) => status === 101).length;
  };
  // The key has a slot at each worker and the client has one at one of them, so three of six are
  // free.
  expect(await accepted()).toBe(3);
  for (const pid of gateway.pids()) process.kill(pid, "SIGKILL");
  await gateway.began(4);
  expect(await accepted()).toBe(6);
});

/** Opens a keep-alive connection to this worker. */
async function sameWorker(worker: string, url: string, onTestFinished: Finish): Promise<KeptConnection> {
  for (;;) {
    const connection = keptConnection(url);
    onTestFinished(() => connection.close());
    if ((await connection.worker()) === worker) return connection;
  }
}
