import { afterEach, expect, test } from "vitest";
import { HAS_REDIS, type RedisServer, startRedis } from "../../scale/cluster/redis-servers.ts";
import { SentinelServers } from "../../scale/cluster/sentinel-servers.ts";
import { runInProcess } from "./run-in-process.ts";

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

async function startServer(settings: Record<string, string>): Promise<RedisServer> {
  const server = await startRedis(settings);
  ends.push(() => server.dispose());
  return server;
}

const examine = (port: number) =>
  runInProcess([
    "doctor",
    "--feed",
    "replay",
    "--cluster",
    `redis://127.0.0.1:${port}`,
    "--cluster-name",
    "bsc",
  ]);

test.skipIf(!HAS_REDIS)(
  "doctor reports what works, fails and lacks at a cluster's Redis server",
  async () => {
    const { port } = await startServer({});
    const good = await examine(port);
    expect([good.code, good.stderr]).toEqual([
      0,
      "4 checks of 1 service: 3 work, 0 fail, 1 optional check fails\n",
    ]);
    expect(good.stdout).toMatch(/^works {2}cluster +server .* Redis \d[\d.]+, a primary$/m);
    expect(good.stdout).toMatch(
      /^fails \(optional\) {2}cluster +replicas .*no replica: while the server is down/m,
    );

    const other = await startServer({ "maxmemory-policy": "allkeys-lru", appendonly: "no" });
    const bad = await examine(other.port);
    expect([bad.code, bad.stderr]).toEqual([
      75,
      "4 checks of 1 service: 1 work, 1 fail, 2 optional checks fail\n",
    ]);
    expect(bad.stdout).toMatch(/^fails {2}cluster +eviction .*maxmemory-policy allkeys-lru drops/m);
    expect(bad.stdout).toMatch(/^fails \(optional\) {2}cluster +aof .*writes no append-only file/m);

    await other.kill();
    const gone = await examine(other.port);
    expect(gone.code).toBe(75);
    expect(gone.stdout).toMatch(/^fails {2}.*does not answer within 5 s/m);
  },
);

test.skipIf(!HAS_REDIS)(
  "doctor asks each Sentinel for the primary and whether a fail-over is possible; an unneeded password is ignored",
  async () => {
    await using all = await SentinelServers.start();
    const { code, stdout } = await runInProcess(["doctor", "--feed", "replay", "--cluster", all.cluster], {
      FLAREWIRE_CLUSTER_PASSWORD: "unneeded",
    });
    const sentinels = stdout.match(
      /^works {2}sentinel .* primary 127\.0\.0\.1:\d+; a fail-over is possible$/gm,
    );
    expect([code, sentinels]).toEqual([0, [expect.anything(), expect.anything(), expect.anything()]]);
    expect(stdout).toMatch(/^works {2}cluster +replicas .* 2 connected$/m);
  },
);
