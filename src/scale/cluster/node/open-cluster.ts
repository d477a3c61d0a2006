import type { Logger } from "pino";
import { type Notify, notifyLog } from "../../../base/lib/notify.ts";
import { messageOf } from "../../../base/lib/text/message-of.ts";
import { FlarewireError } from "../../../base/protocol/index.ts";
import { memoryPersistence } from "../../../gateway/persistence/index.ts";
import type { GatewaySettings } from "../../../gateway/settings/index.ts";
import { type OpenFollower, resumeOf } from "../../../gateway/source/index.ts";
import type { JoinedLog, Joining } from "../../../gateway/start/index.ts";
import { clusterMetrics } from "../cluster-metrics.ts";
import type { ClusterSettings } from "../cluster-settings.ts";
import type { Engine } from "../engine.ts";
import { keyOf, REJECTS, RedisEngine } from "../redis/redis-engine.ts";
import { ClusterSharedState } from "./cluster-shared-state.ts";
import { ClusterSource } from "./cluster-source.ts";
import { ClusterTask } from "./cluster-task.ts";
import { engineAddress } from "./engine-address.ts";
import { createReplicaStore } from "./replica-store.ts";
import { SharedMarket } from "./shared-market.ts";
import { loadUsableNode } from "./stored-node.ts";

type Settings = ClusterSettings & GatewaySettings;

/**
 * How long clients may wait for events that they are ahead of: a leader's last batch may have
 * reached only its own clients. Other nodes get it from the next leader.
 */
const TAKE_OVER_MS = 10_000;

/** Minimum number of entries that the engine's log retains: an hour of one batch per second. */
const MIN_ENTRIES = 3_600;

/** Connects to the cluster's servers and loads the state that is stored there, once they answer. */
export async function openCluster(config: Settings, joining: Joining): Promise<JoinedLog> {
  const { clock, logger, market, openCopy, password } = joining;
  const { signal = new AbortController().signal } = joining;
  const { connection, acknowledgements } = engineAddress(config, password);
  const retained = Math.max(MIN_ENTRIES, Math.ceil((2 * config.logAgeMs) / 1_000));
  const report = notifyLog(logger);
  let refusal = "";
  const notify: Notify = (level, message, facts) => {
    report(level, message);
    if (facts?.fault !== undefined) refusal = facts.fault === REJECTS ? message : "";
  };
  const name = config.clusterName;
  const engine = new RedisEngine({ connection, acknowledgements, retained, clock, name, notify });
  try {
    await checkServer(engine, logger, signal);
    const common = new SharedMarket(engine, market, name);
    await common.check();
    const task = new ClusterTask(clock, openCopy);
    const { stored: start, snapshot, problem } = await loadUsableNode({ engine, task, clock }, signal);
    if (problem) logger.warn(`joining without the cluster's stored state: ${problem}`);
    const persistence = snapshot
      ? createReplicaStore(snapshot, { config, clock, logger })
      : memoryPersistence({ config, clock, logger });
    const { restored } = persistence;
    const resume = restored && resumeOf(restored, 0);
    const { cursor } = snapshot?.end ?? {};
    logger.info({ name: config.clusterName, cursor }, "joining the cluster");
    const { staleAfterMs } = config;
    const options = { staleAfterMs, clock, logger, engine, task, start, market };
    const removal = `redis-cli DEL '${keyOf(name, "log")}'`;
    const joined = new ClusterSource({ ...options, refusal: () => refusal, removal, common });
    const forget = common.keep(clock, () => joined.opened !== undefined);
    const state = new ClusterSharedState(engine, clock);
    const close = async () => {
      forget();
      state.stop();
      await engine.close();
    };
    const opened: OpenFollower = {
      kind: "follower",
      source: joined,
      aheadWaitMs: TAKE_OVER_MS,
      mayLackEvents: () => joined.mayLackEvents,
      isStaleReady: () => joined.hasCaughtUp,
      rejected: () => joined.opened?.rejected?.() ?? {},
      lag: () => joined.opened?.lag?.() ?? [],
      services: () => joined.opened?.services?.() ?? [],
      replaced: () => joined.opened?.replaced?.() ?? {},
      late: () => joined.opened?.late?.() ?? {},
      metrics: clusterMetrics(() => joined.state),
      close,
      ...(resume ? { resume } : {}),
    };
    return { persistence, state, tasks: task, opened };
  } catch (error) {
    await engine.close();
    throw error;
  }
}

/**
 * Throws `invalid-setting` if the server cannot be trusted, rejects this gateway, or may drop parts
 * of the log. Warns if a restart or an outage would lose the log or stop its events.
 */
async function checkServer(engine: Engine, logger: Logger, signal: AbortSignal): Promise<void> {
  const facts = await engine.facts(signal).catch((cause: unknown) => {
    if (signal.aborted) throw cause;
    throw new FlarewireError(
      "invalid-setting",
      `cannot use the cluster's server: ${messageOf(cause)}; set FLAREWIRE_CLUSTER_PASSWORD and cluster-user; for a certificate authority of your own, set NODE_EXTRA_CA_CERTS to its file`,
      { field: "cluster", cause },
    );
  });
  const policy = facts.get("maxmemory_policy") ?? "noeviction";
  if (policy !== "noeviction")
    throw new FlarewireError(
      "invalid-setting",
      `the cluster's server has the maxmemory-policy ${policy}, which drops parts of the log; set it to noeviction`,
      { field: "cluster" },
    );
  if (facts.get("aof_enabled") === "0")
    logger.warn(
      "the cluster's server writes no append-only file: its restart empties the log; set appendonly yes",
    );
  const replicas = facts.get("connected_slaves");
  if (replicas === "0")
    logger.warn("the cluster's server has no replica: while it is down, no events are published");
}
