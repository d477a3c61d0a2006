import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import {
  CLUSTER_PASSWORD_VARIABLE,
  type Config,
  ENRICHER_KEY_VARIABLES,
  LEADER_KEY_VARIABLE,
  listenProblem,
} from "../config/config.ts";
import { WorkersFrontend } from "../workers/index.ts";
import { type Gateway, type GatewayParts, startGatewayWithFrontend } from "./app.ts";
import { createLogger } from "./create-logger.ts";
import type { OpenFrontend } from "./frontend.ts";
import type { OwnKeys } from "./open/open-keys.ts";
import { encodeLists } from "./persistence/restored-state.ts";

/** Module of a worker process, beside this one, as source or built. */
const WORKER = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "./worker.ts" : "./worker.js", import.meta.url),
);

/** Starts a gateway with worker processes for its clients. Rejects if one ends during its start. */
export function startWithWorkers(config: Config, parts: GatewayParts = {}): Promise<Gateway> {
  const logger = parts.logger ?? createLogger(config.logLevel);
  let frontend: WorkersFrontend | undefined;
  const openFrontend =
    (keys: OwnKeys): OpenFrontend =>
    async (options) => {
      const { freshness, info } = options;
      const made = new WorkersFrontend({
        ...options,
        ...{ ...config, config, logger, spawn: spawnWorker },
        report: () => ({ info: info(), freshness: freshness() }),
        format: encodeLists,
        tickets: keys.tickets,
        keys: keys.list,
        rates: keys.rates,
        metrics: options.metrics,
      });
      frontend = made;
      keys.onReload = () => made.keysChanged();
      keys.onEnd = (id, reason) => made.keyEnded(id, reason);
      return {
        listen: () =>
          made.listen().catch((error: unknown) => {
            throw listenProblem(error, config) ?? error;
          }),
        // The workers end their connections.
        retire: () => {},
        caughtUp: () => made.caughtUp(),
        close: () => made.close(),
        get trouble() {
          return made.trouble;
        },
      };
    };
  const counts = () => frontend?.counts ?? { serving: 0, ended: 0 };
  return startGatewayWithFrontend(openFrontend, config, { ...parts, logger }, counts);
}

export function spawnWorker(): ChildProcess {
  // Keys that the primary presents to other services stay in this process.
  const env = { ...process.env };
  const secrets = [LEADER_KEY_VARIABLE, CLUSTER_PASSWORD_VARIABLE, ...Object.values(ENRICHER_KEY_VARIABLES)];
  for (const variable of secrets) delete env[variable];
  return fork(WORKER, {
    env,
    serialization: "advanced",
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
}
