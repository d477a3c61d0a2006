import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createLogger } from "../../../src/app/server/create-logger.ts";
import { createConfig, type Gateway, startGateway } from "../../../src/index.ts";
import { runInProcess } from "../../app/cli/run-in-process.ts";
import { newDirectory } from "../../support/servers/edges.ts";
import { eventually } from "../../support/time/waiters.ts";
import { pumpedSettings, writePumpedMarket } from "../../support/world/pumped-market.ts";
import { ask, HAS_REDIS, type RedisServer } from "./redis-servers.ts";
import { endAfterEach, startServer } from "./started-servers.ts";

type Given = Parameters<typeof createConfig>[0];

const MARKET = "fw:{flarewire}:market";
const ends = endAfterEach();

/** Starts a gateway, which stops after the test. Its log lines go to `lines`. */
async function startNode({ port }: RedisServer, more: Given = {}, lines: string[] = []): Promise<Gateway> {
  const logger = createLogger("info", { write: (line) => void lines.push(line) });
  const own = { port: 0, drain: "0", compression: false, cluster: `redis://127.0.0.1:${port}` } as const;
  const gateway = await startGateway(createConfig({ ...own, ...pumpedSettings(), ...more }), { logger });
  ends.push(() => gateway.stop());
  return gateway;
}

describe.skipIf(!HAS_REDIS)("a node with another market than the cluster's", () => {
  test("is refused: the error names the setting and both values", async ({ onTestFinished }) => {
    const server = await startServer(ends);
    await startNode(server);
    const file = writePumpedMarket(join(newDirectory(onTestFinished), "other.csv"), 2);
    const OTHERS: readonly (readonly [Given, string])[] = [
      [{ speed: 60 }, "speed is 1200 there and 60 here"],
      [{ speed: "max" }, "speed is 1200 there and max here"],
      [{ group: "exchange" }, "group is bsc there and exchange here"],
      [{ loop: false }, "loop is true there and false here"],
      [{ refresh: "7s" }, "refresh is 5s there and 7s here"],
      [{ file }, "file is "],
    ];
    for (const [given, words] of OTHERS)
      await expect(startNode(server, given), words).rejects.toMatchObject({
        code: "invalid-setting",
        message: expect.stringContaining(`cluster flarewire runs another market: ${words}`),
      });
    const cluster = `redis://127.0.0.1:${server.port}`;
    const { code, stderr } = await runInProcess([
      ...["serve", "--port", "0", "--cluster", cluster, "--feed", "simulated", "--seed", "2"],
    ]);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining("feed is replay there and simulated here; use its settings"),
    ]);
  });

  test("joins if only settings of the node itself differ, or under another name of the cluster", async () => {
    const server = await startServer(ends);
    await startNode(server);
    await startNode(server, { heartbeat: "2s", logAge: "20m", warmup: "2h", maxSockets: 7 });
    await startNode(server, { clusterName: "other", speed: 60 });
  });

  test("joins once all nodes have stopped for half a minute, and begins a new epoch", async () => {
    const server = await startServer(ends);
    const first = await startNode(server);
    const { epoch } = first.head.cursor;
    await first.stop();
    await expect(startNode(server, { refresh: "7s" })).rejects.toMatchObject({ code: "invalid-setting" });
    const left = await ask(server.port, (redis) => redis.pttl(MARKET));
    expect([left > 0, left <= 30_000]).toEqual([true, true]);
    await ask(server.port, (redis) => redis.pexpire(MARKET, 1));
    await eventually(
      () => ask(server.port, async (redis) => (await redis.exists(MARKET)) === 0),
      () => "not expired",
    );
    const next = await startNode(server, { refresh: "7s" });
    await eventually(
      () => next.head.cursor.epoch !== epoch,
      () => next.freshness(),
    );
  });

  test("does not lead, even if it got in because the server had lost the cluster's market", async () => {
    const server = await startServer(ends);
    const first = await startNode(server);
    const lines: string[] = [];
    let other: Gateway | undefined;
    // The first node stores its market again every few seconds, and so may be faster.
    while (!other) {
      await ask(server.port, (redis) => redis.del(MARKET));
      other = await startNode(server, { refresh: "7s" }, lines).catch((error) => {
        expect(error).toMatchObject({ code: "invalid-setting" });
        return undefined;
      });
    }
    const { epoch } = first.head.cursor;
    const agreed = () => ask(server.port, async (redis) => (await redis.get(MARKET)) ?? "");
    await eventually(async () => (await agreed()).includes('"refresh":"5s"'), agreed);
    await first.stop();
    const logged = () => lines.join("");
    await eventually(() => logged().includes("runs another market: refresh is 5s there and 7s here"), logged);
    expect(other.head.cursor.epoch).toBe(epoch);
  });
});
