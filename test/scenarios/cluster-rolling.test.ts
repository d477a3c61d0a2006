import { once } from "node:events";
import { describe, expect, test } from "vitest";
import { ProcessCluster } from "../scale/cluster/process-cluster.ts";
import { HAS_REDIS } from "../scale/cluster/redis-servers.ts";
import { SharedViews } from "../support/clients/moving-client.ts";
import { RoamingClient } from "../support/clients/roaming-client.ts";

/** Number of clients. CLUSTER_CLIENTS sets more for longer runs. */
const CLIENTS = Number(process.env.CLUSTER_CLIENTS ?? 40);
const NODES = CLIENTS > 40 ? 3 : 2;
const CONCURRENT_CONNECTS = 40;
const DRAIN_SECONDS = Math.max(1, Math.ceil(CLIENTS / 200));
const SPEED = CLIENTS > 500 ? "30" : "100";
const MARKET = [
  "--feed",
  "replay",
  "--speed",
  SPEED,
  "--warmup",
  "0",
  "--max-sockets-per-ip",
  "10000",
  "--anonymous-streams",
  "none",
];

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

describe.skipIf(!HAS_REDIS)("a rolling restart of all gateways of a cluster", () => {
  test(`[L3] ${CLIENTS} clients, over WebSocket and server-sent events, lose no event and get no reset`, {
    timeout: 600_000 + CLIENTS * 200,
  }, async () => {
    await using cluster = await ProcessCluster.start(NODES, [...MARKET, "--drain", `${DRAIN_SECONDS}s`]);
    const { nodes } = cluster;
    const leaving = new Set<string>();
    const urls = () => cluster.running.map(({ url }) => url).filter((url) => !leaving.has(url));
    const views = new SharedViews();
    const clients = Array.from({ length: CLIENTS }, (_, at) => new RoamingClient(views, urls, at % 2 === 0));
    try {
      for (let at = 0; at < CLIENTS; at += CONCURRENT_CONNECTS)
        await Promise.all(clients.slice(at, at + CONCURRENT_CONNECTS).map((client) => client.start()));
      const starts = clients.map(({ seq }) => seq);
      for (const node of nodes.slice()) {
        leaving.add(node.url);
        const ended = once(node.cli.child, "exit");
        node.cli.child.kill("SIGTERM");
        expect(await ended).toEqual([0, null]);
        const next = await cluster.startNode();
        await expect.poll(async () => (await fetch(`${next.url}/readyz`)).status).toBe(200);
      }
      const last = Math.max(...clients.map(({ seq }) => seq));
      await expect.poll(() => clients.filter(({ seq }) => seq <= last).length).toBe(0);
      expect(sum(clients.map(({ wrong }) => wrong))).toBe(0);
      expect(sum(clients.map(({ answers }) => answers.reset))).toBe(CLIENTS);
      const resumed = sum(clients.map(({ answers }) => answers.full));
      expect(resumed).toBeGreaterThanOrEqual(CLIENTS);
      const events = sum(clients.map(({ seq }, at) => seq - (starts[at] ?? 0)));
      process.stdout.write(`${CLIENTS} clients: ${resumed} moves, ${events} events, 0 lost, 0 resets\n`);
    } finally {
      for (const client of clients) client.end();
    }
  });
});
