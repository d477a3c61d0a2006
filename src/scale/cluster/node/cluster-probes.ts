import { Redis } from "ioredis";
import type { Probe } from "../../../base/lib/probe.ts";
import type { Clock } from "../../../base/lib/time/clock.ts";
import type { ClusterSettings } from "../cluster-settings.ts";
import { RedisEngine, type RedisEngineOptions, survivingDisconnects } from "../redis/redis-engine.ts";
import { engineAddress } from "./engine-address.ts";

type Facts = ReadonlyMap<string, string>;
type Connection = RedisEngineOptions["connection"];

const ANSWER_MS = 5_000;

/** Tests the servers and Sentinels of the config's cluster, for `flarewire doctor`. */
export function clusterProbes(
  settings: ClusterSettings,
  password: string | undefined,
  clock: Clock,
): readonly Probe[] {
  const { connection, acknowledgements } = engineAddress(settings, password);
  const { sentinels = [] } = connection;
  const host = connection.host ?? sentinels[0]?.host ?? "";
  const options = {
    connection,
    acknowledgements,
    retained: 1,
    clock,
    name: settings.clusterName,
    notify: () => {},
  };
  const probe = (what: string, judge: (facts: Facts) => string, isOptional = false): Probe => ({
    service: "cluster",
    what,
    host,
    isOptional,
    run: async (signal) => judge(await readFacts(options, signal)),
  });
  const hasSentinels = sentinels.length > 0;
  return [
    probe("server", judgeRole),
    probe("eviction", judgeEviction),
    probe("aof", judgeFile, true),
    probe("replicas", judgeReplicas, !hasSentinels),
    ...(hasSentinels ? [probe("minimum", judgeMinimum, true)] : []),
    ...sentinels.map((sentinel) => sentinelProbe(connection, sentinel)),
  ];
}

async function readFacts(options: RedisEngineOptions, signal: AbortSignal): Promise<Facts> {
  const engine = new RedisEngine(options);
  const timeout = AbortSignal.timeout(ANSWER_MS);
  try {
    return await engine.facts(AbortSignal.any([signal, timeout]));
  } catch (cause) {
    if (timeout.aborted) throw new Error(`does not answer within ${ANSWER_MS / 1_000} s`, { cause });
    throw cause;
  } finally {
    await engine.close();
  }
}

function factOf(facts: Facts, name: string): string {
  const fact = facts.get(name);
  if (fact === undefined) throw new Error("does not permit INFO, so it cannot be checked");
  return fact;
}

function judgeRole(facts: Facts): string {
  const version = `${facts.has("valkey_version") ? "Valkey" : "Redis"} ${factOf(facts, "redis_version")}`;
  if (factOf(facts, "role") === "master") return `${version}, a primary`;
  throw new Error(`${version} is a replica; name its primary, or use redis+sentinel://`);
}

function judgeEviction(facts: Facts): string {
  const policy = factOf(facts, "maxmemory_policy");
  if (policy === "noeviction") return "noeviction";
  throw new Error(`maxmemory-policy ${policy} drops parts of the log; set it to noeviction`);
}

function judgeFile(facts: Facts): string {
  if (factOf(facts, "aof_enabled") === "0")
    throw new Error("writes no append-only file, so a restart empties the log; set appendonly yes");
  const status = facts.get("aof_last_write_status") ?? "ok";
  if (status !== "ok") throw new Error(`the last write to its append-only file ended with ${status}`);
  return "writes an append-only file";
}

function judgeReplicas(facts: Facts): string {
  const count = factOf(facts, "connected_slaves");
  if (count === "0") throw new Error("no replica: while the server is down, no events are published");
  return `${count} connected`;
}

/** INFO reports the number of good replicas only if a minimum is set. */
function judgeMinimum(facts: Facts): string {
  const good = facts.get("min_slaves_good_slaves");
  if (good !== undefined) return `min-replicas-to-write is set; ${good} replicas are good`;
  throw new Error(
    "min-replicas-to-write is 0, so a primary that was cut off still takes writes; set it to 1",
  );
}

type Sentinel = NonNullable<Connection["sentinels"]>[number];

/** Asks one Sentinel which server is the primary, and whether a fail-over could begin. */
function sentinelProbe(
  { name = "", sentinelPassword, tls }: Connection,
  { host = "", port = 0 }: Sentinel,
): Probe {
  return {
    service: "sentinel",
    what: `${port}`,
    host,
    run: async () => {
      const redis = new Redis({
        host,
        port,
        commandTimeout: ANSWER_MS,
        connectTimeout: ANSWER_MS,
        maxRetriesPerRequest: 0,
        retryStrategy: () => null,
        ...(sentinelPassword ? { password: sentinelPassword } : {}),
        ...(tls ? { tls } : {}),
      });
      survivingDisconnects(redis).on("error", () => {});
      try {
        const address: unknown = await redis.call("SENTINEL", "GET-MASTER-ADDR-BY-NAME", name);
        if (!Array.isArray(address)) throw new Error(`knows no server named ${name}`);
        await redis.call("SENTINEL", "CKQUORUM", name);
        return `primary ${address.join(":")}; a fail-over is possible`;
      } finally {
        redis.disconnect();
      }
    },
  };
}
