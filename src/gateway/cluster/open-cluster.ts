import type { Logger } from "pino";
import { createRedisEngine } from "../../cluster/redis/redis-engine.ts";
import type { Config } from "../../config/config.ts";
import type { EnricherKeys } from "../../feed/index.ts";
import { notifyLog } from "../../lib/notify.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { SnapshotSource } from "../../source/index.ts";
import type { OpenCluster } from "../open/open-source.ts";
import { openPersistence, type Persistence } from "../persistence/persistence.ts";
import { createReplicaStore } from "../persistence/replica-store.ts";
import { ClusterSource } from "./cluster-source.ts";
import { engineAddress } from "./engine-address.ts";
import { readStoredLog } from "./stored-node.ts";

interface ClusterParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly source?: SnapshotSource | undefined;
  readonly enricherKeys?: EnricherKeys | undefined;
  /** Password of the servers. Default: none. */
  readonly clusterPassword?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

interface JoinedCluster {
  readonly persistence: Persistence;
  readonly opened: OpenCluster;
}

/** Entries that the engine's log retains at least: an hour of batches each second. */
const MIN_ENTRIES = 3_600;

/** Connects to the cluster's servers and loads the state that is stored there. */
export async function openCluster(config: Config, parts: ClusterParts): Promise<JoinedCluster> {
  const { clock, logger, source, enricherKeys, clusterPassword } = parts;
  const { signal = new AbortController().signal } = parts;
  const { connection, acknowledgements } = engineAddress(config.cluster, clusterPassword);
  const retained = Math.max(MIN_ENTRIES, (2 * config.logAgeMs) / 1_000);
  const engine = createRedisEngine({
    ...{ connection, acknowledgements, retained, clock, name: config.clusterName },
    notify: notifyLog(logger),
  });
  try {
    const stored = await engine.load(["log"], signal);
    const snapshot = stored && (await readStoredLog(stored, engine, signal));
    const start = snapshot ? stored : undefined;
    const persistence = snapshot
      ? createReplicaStore(snapshot, { config, clock, logger })
      : openPersistence({ config: { ...config, data: "none" }, clock, logger });
    const { restored } = persistence;
    const resume = restored && {
      ...{ known: restored.known, observedAtMs: restored.observedAtMs, afterMs: 0 },
      snapshot: restored.known.lists.snapshot,
    };
    const { cursor } = snapshot?.end ?? {};
    logger.info({ name: config.clusterName, cursor }, "joining the cluster");
    const options = { config, clock, logger, engine, start, source, enricherKeys };
    const joined = new ClusterSource(options);
    const opened: OpenCluster = {
      ...{ kind: "cluster", source: joined, rejected: () => joined.opened?.rejected?.() ?? {} },
      services: () => joined.opened?.services?.() ?? [],
      late: () => joined.opened?.late?.() ?? {},
      ...(resume ? { resume } : {}),
    };
    return { persistence, opened };
  } catch (error) {
    await engine.close();
    throw error;
  }
}
