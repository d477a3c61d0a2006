import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createConfig, type Gateway, startGateway } from "../../src/index.ts";
import { createChance } from "../support/chance.ts";
import { HoppingClient } from "../support/hopping-client.ts";
import { expectOneState } from "../support/one-state.ts";
import { eventsOnServer } from "./cluster-log.ts";
import { HAS_SENTINEL, SentinelServers } from "./sentinel-servers.ts";

/** Pairs of a kill and a pause: as many as the variable says where there is time. */
const ROUNDS = Number(process.env.CLUSTER_FAILOVERS ?? 1);

/** Starts a gateway of a cluster, on a recorded market that moves fast. */
function startNode(cluster: string): Promise<Gateway> {
  const server = { port: 0, logLevel: "silent", drain: "0", compression: false, cluster } as const;
  const market = { feed: "replay", warmup: "0s", speed: 300, heartbeat: "1s" } as const;
  return startGateway(createConfig({ ...server, ...market }));
}

describe.skipIf(!HAS_SENTINEL)("gateways with three servers and three Sentinels", () => {
  let servers: SentinelServers;
  const nodes: Gateway[] = [];
  beforeAll(async () => {
    servers = await SentinelServers.start();
    for (const _ of [1, 2]) nodes.push(await startNode(servers.cluster));
  }, 30_000);
  afterAll(async () => {
    for (const node of nodes) await node.stop();
    await servers[Symbol.asyncDispose]();
  });

  test("[L3] continue on another server when theirs is killed or paused: clients that move between them over all transports see no hole, no repeat and no reset, and only what the log has", {
    timeout: 30_000 + ROUNDS * 40_000,
  }, async () => {
    const clients = [1, 2].map(
      (seed) => new HoppingClient(() => nodes.map(({ url }) => url), createChance(seed)),
    );
    const following = clients.map((client) => client.follow());
    const moves = async () => {
      const target = Math.max(...clients.map(({ seq }) => seq)) + 20;
      await expect
        .poll(() => Math.max(...clients.map(({ seq }) => seq)), { interval: 10, timeout: 30_000 })
        .toBeGreaterThan(target);
    };
    const tookMs: number[] = [];
    for (let fault = 0; fault < 2 * ROUNDS; fault++) {
      const isKill = fault % 2 === 0;
      await moves();
      const primary = await servers.primary();
      const startedAt = performance.now();
      if (isKill) await primary.kill();
      else primary.signal("SIGSTOP");
      await servers.failedOver(primary);
      await moves();
      tookMs.push(Math.round(performance.now() - startedAt));
      if (isKill) await primary.start();
      else primary.signal("SIGCONT");
      await moves();
    }
    process.stdout.write(`events again after the loss of the primary: ${tookMs.join(", ")} ms\n`);
    for (const client of clients) client.end();
    await Promise.all(following);
    const log = await eventsOnServer((await servers.primary()).directPort);
    for (const client of clients) {
      expect(client.trouble).toEqual([]);
      const { applied, epochs, resets, delivered } = client;
      expect({ resets, epochs: epochs.size }).toEqual({ resets: 1, epochs: 1 });
      expect(applied).toEqual(applied.map((_, index) => (applied[0] ?? 0) + index));
      expect([...delivered].filter(([at, event]) => log.get(at) !== event)).toEqual([]);
      expect(delivered.size).toBe(applied.length);
      for (const { url } of nodes) {
        client.base = url;
        await client.connect();
        await expectOneState(url, client);
        await client.disconnect();
      }
    }
  });
});
