import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { createLogger } from "../../../src/app/server/create-logger.ts";
import { createConfig, type Gateway, startGateway } from "../../../src/index.ts";
import { runInProcess } from "../../app/cli/run-in-process.ts";
import { eventually } from "../../support/time/waiters.ts";
import { pumpedSettings } from "../../support/world/pumped-market.ts";
import { ask, HAS_REDIS } from "./redis-servers.ts";
import { endAfterEach, startServer } from "./started-servers.ts";

const ends = endAfterEach();
const GUIDE = new URL("../../../src/scale/SCALING.md", import.meta.url);

test.skipIf(!HAS_REDIS)(
  "nodes need no more than what the documented user may do: they join, lead, repair their keys and hand over, and doctor works",
  async () => {
    const server = await startServer(ends);
    const cluster = `redis://127.0.0.1:${server.port}`;
    const [line = ""] = /^ACL SETUSER .*$/m.exec(readFileSync(GUIDE, "utf8")) ?? [];
    const [, ...rule] = line.replace("PASSWORD", "secret").split(" ");
    await ask(server.port, (redis) => redis.call("ACL", ...rule));
    const lines: string[] = [];
    const logger = createLogger("info", { write: (text) => void lines.push(text) });
    const own = {
      port: 0,
      drain: "0",
      compression: false,
      clusterUser: "flarewire",
      clusterName: "bsc",
    } as const;
    const start = async (): Promise<Gateway> => {
      const config = createConfig({ ...own, cluster, ...pumpedSettings() });
      const gateway = await startGateway(config, { logger, clusterPassword: "secret" });
      ends.push(() => gateway.stop());
      return gateway;
    };
    const moves = async (node: Gateway) => {
      const { epoch, seq } = node.head.cursor;
      await eventually(
        () => node.head.cursor.epoch !== epoch || node.head.cursor.seq > seq + 5,
        () => [node.freshness(), ...lines.slice(-5)],
      );
    };
    const first = await start();
    await moves(first);
    const second = await start();
    for (const key of ["log", "checkpoint", "market"])
      await ask(server.port, (redis) => redis.set(`fw:{bsc}:${key}`, "text"));
    await moves(first);
    await ask(server.port, (redis) => redis.xadd("fw:{bsc}:log", "*", "name", "value"));
    await moves(first);
    await first.stop();
    await moves(second);
    const args = ["doctor", "--feed", "replay", "--cluster", cluster, "--cluster-name", "bsc"];
    const password = { FLAREWIRE_CLUSTER_PASSWORD: "secret" };
    const { code, stdout, stderr } = await runInProcess([...args, "--cluster-user", "flarewire"], password);
    expect([code, stdout], stderr).toEqual([0, expect.stringContaining("noeviction")]);
    expect(await ask(server.port, (redis) => redis.call("ACL", "LOG"))).toEqual([]);
    expect(lines.join("")).not.toContain("NOPERM");
  },
);
