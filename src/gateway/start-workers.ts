import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { type Config, ETHERSCAN_KEY_VARIABLE, LEADER_KEY_VARIABLE, listenProblem } from "../config/config.ts";
import { WorkersFront } from "../workers/index.ts";
import { type Gateway, type GatewayParts, startGatewayWithFrontend } from "./app.ts";
import { createLogger } from "./create-logger.ts";
import type { OpenFront } from "./frontend.ts";
import type { OwnKeys } from "./open/open-keys.ts";
import { formatPlace } from "./persistence/restored-state.ts";

/** The module of a worker's process: beside this one, as source or built. */
const WORKER = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "./worker.ts" : "./worker.js", import.meta.url),
);

/**
 * As startGateway, but clients are served by as many processes as the config says, on its one port. This process has the source, the log, the keys and the places. Rejects
 * also when a worker ends in its start.
 */
export function startWithWorkers(config: Config, parts: GatewayParts = {}): Promise<Gateway> {
  const logger = parts.logger ?? createLogger(config.logLevel);
  let front: WorkersFront | undefined;
  const openFront =
    (keys: OwnKeys): OpenFront =>
    async (options) => {
      const { freshness, info } = options;
      const made = new WorkersFront({
        ...options,
        ...{ ...config, config, logger, spawn: spawnWorker },
        news: () => ({ info: info(), freshness: freshness() }),
        format: formatPlace,
        places: keys.places,
        tickets: keys.tickets,
        keys: keys.list,
        rates: keys.rates,
        metrics: options.metrics,
      });
      front = made;
      keys.onReload = () => made.keysChanged();
      keys.onEnd = (id, reason) => made.keyEnded(id, reason === "unauthorized");
      return {
        listen: () =>
          made.listen().catch((error: unknown) => {
            throw listenProblem(error, config) ?? error;
          }),
        // Connections are the workers' to end.
        retire: () => {},
        caughtUp: () => made.caughtUp(),
        close: () => made.close(),
        get trouble() {
          return made.trouble;
        },
      };
    };
  const counts = () => front?.counts ?? { serving: 0, ended: 0 };
  return startGatewayWithFrontend(openFront, config, { ...parts, logger }, counts);
}

/** Begins a worker's process. */
export function spawnWorker(): ChildProcess {
  // What the primary shows to others is nobody else's.
  const { [LEADER_KEY_VARIABLE]: _leader, [ETHERSCAN_KEY_VARIABLE]: _etherscan, ...env } = process.env;
  return fork(WORKER, {
    env,
    serialization: "advanced",
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
}
