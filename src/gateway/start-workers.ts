import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import {
  CLUSTER_PASSWORD_VARIABLE,
  type Config,
  ENRICHER_KEY_VARIABLES,
  LEADER_KEY_VARIABLE,
} from "../app/config/config.ts";
import { WorkersFrontend } from "../workers/index.ts";
import { encodeLists } from "./persistence/restored-state.ts";
import { type Gateway, type GatewayParts, startGatewayWithFrontend } from "./start/app.ts";
import { createLogger } from "./start/create-logger.ts";
import type { OpenFrontend } from "./start/frontend.ts";
import { listenProblem } from "./start/listen-problem.ts";
import type { OwnKeys } from "./start/open-keys.ts";
import { TlsServer } from "./start/tls-server.ts";

/** Module of a worker process, beside this one, as source or built. */
const WORKER = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "./worker.ts" : "./worker.js", import.meta.url),
);

/**
 * Starts a gateway with worker processes for its clients. Rejects if a worker ends while it starts.
 */
export function startWithWorkers(config: Config, parts: GatewayParts = {}): Promise<Gateway> {
  const logger = parts.logger ?? createLogger(config.logLevel);
  let frontend: WorkersFrontend | undefined;
  const openFrontend =
    (keys: OwnKeys): OpenFrontend =>
    async (options) => {
      const { freshness, info } = options;
      // This process only checks and watches the certificate: the workers complete the handshakes.
      const tls = await TlsServer.open(config, { ...options, onSecure: () => {}, room: () => 0 });
      const workers = new WorkersFrontend({
        ...options,
        ...{ ...config, config, spawn: spawnWorker, signal: parts.signal },
        report: () => ({ info: info(), freshness: freshness() }),
        encode: encodeLists,
        used: (keyId) => keys.used(keyId),
        ...{ tickets: keys.tickets, keys: keys.list, rates: keys.rates, metrics: options.metrics },
      });
      frontend = workers;
      keys.onReload = () => workers.keysChanged();
      keys.onEnd = (id, reason) => workers.keyEnded(id, reason);
      return {
        listen: async () => {
          const url = await workers.listen().catch((error: unknown) => {
            throw listenProblem(error, config) ?? error;
          });
          return tls ? url.replace("http:", "https:") : url;
        },
        // The workers end their connections.
        retire: () => {},
        caughtUp: () => workers.caughtUp(),
        close: () => {
          tls?.stop();
          return workers.close();
        },
        metrics: {
          contentType: options.metrics?.contentType ?? "",
          text: async () => (await workers.metricsText()) ?? "",
        },
        get trouble() {
          return workers.trouble ?? tls?.trouble;
        },
      };
    };
  const counts = () => frontend?.counts ?? { serving: 0, ended: 0 };
  return startGatewayWithFrontend(openFrontend, config, { ...parts, logger }, counts);
}

export function spawnWorker(): ChildProcess {
  // The keys for other services stay in this process.
  const env = { ...process.env };
  const secrets = [LEADER_KEY_VARIABLE, CLUSTER_PASSWORD_VARIABLE, ...Object.values(ENRICHER_KEY_VARIABLES)];
  for (const variable of secrets) delete env[variable];
  return fork(WORKER, {
    env,
    serialization: "advanced",
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
}
