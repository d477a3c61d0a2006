import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { formatKeys, mintSecret } from "../../../src/gateway/keys/index.ts";
import { createConfig, type Gateway, startGateway } from "../../../src/index.ts";
import { IndependentClient } from "../../support/clients/independent-client.ts";
import { HAS_REDIS, type RedisServer, startRedis } from "./redis-servers.ts";

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

/** Starts a Redis server, and two gateways on it that accept the same key. */
async function startPair(): Promise<{
  readonly server: RedisServer;
  readonly nodes: readonly [Gateway, Gateway];
  readonly bearer: { readonly authorization: string };
}> {
  const server = await startRedis();
  ends.push(() => server.dispose());
  const directory = mkdtempSync(join(tmpdir(), "flarewire-cluster-keys-"));
  ends.push(() => rmSync(directory, { recursive: true, force: true }));
  const { text, id, digest } = mintSecret("fw");
  const keys = join(directory, "keys.json");
  writeFileSync(
    keys,
    formatKeys([{ id, sha256: digest.toString("hex"), plan: "pro", requests_per_minute: 40 }]),
    { mode: 0o600 },
  );
  const start = async () => {
    const gateway = await startGateway(
      createConfig({
        port: 0,
        logLevel: "silent",
        drain: "0",
        keys,
        cluster: `redis://127.0.0.1:${server.port}`,
        feed: "replay",
        warmup: "0s",
        speed: 600,
      }),
    );
    ends.push(() => gateway.stop());
    await expect.poll(() => gateway.head.ready).toBe(true);
    return gateway;
  };
  return { server, nodes: [await start(), await start()], bearer: { authorization: `Bearer ${text}` } };
}

const stream = ({ url }: Gateway, ticket: string) =>
  `${url}/api/v1/events?channels=flares.pro&ticket=${ticket}`;

describe.skipIf(!HAS_REDIS)("state shared by the gateways of a cluster", () => {
  test("[K4] a gateway's ticket opens one connection at any gateway; while the server is down, tickets get 503", async () => {
    const { server, nodes, bearer } = await startPair();
    const [first, second] = nodes;
    const issue = () => fetch(`${first.url}/api/v1/tickets`, { method: "POST", headers: bearer });
    const { ticket } = Object(await (await issue()).json());
    const attempts = nodes.flatMap((node) => Array.from({ length: 5 }, () => node));
    const statuses = await Promise.all(
      attempts.map(async (node) => {
        const over = new AbortController();
        const headers = { accept: "text/event-stream" };
        const { status } = await fetch(stream(node, ticket), { headers, signal: over.signal });
        over.abort();
        return status;
      }),
    );
    expect(statuses.toSorted()).toEqual([200, ...Array.from({ length: 9 }, () => 401)]);
    await server.kill();
    expect((await issue()).status).toBe(503);
    expect((await fetch(stream(second, ticket))).status).toBe(503);
  });

  test("[W32] a client that connects to another gateway loses its old connection", async () => {
    const { nodes } = await startPair();
    const clients = nodes.map(({ url }) => new IndependentClient(url));
    for (const client of clients) {
      ends.push(() => client.disconnect());
      await client.connect([
        ["client", "0123456789abcdef"],
        ["channels", "flares.free"],
      ]);
      expect(client.received.answers).toHaveLength(1);
    }
    const [before, after] = clients;
    await before?.until(() => before.closeCode !== undefined);
    expect([before?.closeCode, after?.closeCode]).toEqual([4203, undefined]);
  });

  test("[K6] a key's rate limit counts its requests at all gateways", async () => {
    const { nodes, bearer } = await startPair();
    const [first, second] = nodes;
    const ask = async ({ url }: Gateway) => {
      const { status, headers } = await fetch(`${url}/api/v1/newest`, { headers: bearer });
      return { status, left: Number(/r=(\d+)/.exec(headers.get("ratelimit") ?? "")?.[1]) };
    };
    for (let asked = 0; asked < 25; asked += 1) expect((await ask(first)).status).toBe(200);
    // The second gateway's own requests alone would leave more.
    await expect.poll(async () => (await ask(second)).left, { interval: 500 }).toBeLessThan(15);
  });
});
