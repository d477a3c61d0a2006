import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import {
  type Config,
  ETHERSCAN_KEY_VARIABLE,
  keyFrom,
  LEADER_KEY_VARIABLE,
  leaderOf,
  loadConfig,
  settingsHelp,
} from "../config/config.ts";
import { type Gateway, startGateway } from "../gateway/app.ts";
import { createLogger } from "../gateway/create-logger.ts";
import { startWithWorkers } from "../gateway/start-workers.ts";
import { EXIT, type ExitCode, watchShutdown } from "../lib/io/shutdown.ts";
import type { Terminal } from "./terminal/terminal.ts";

/** What `flarewire serve --help` prints. */
export function serveHelp(): string {
  return [
    "Usage: flarewire serve [options]",
    "",
    "Serves the REST API and the live events until SIGTERM or SIGINT. The first signal sends clients away over the drain",
    "time and then ends; another one, a second later, ends at once. Prints where it listens; logs are JSON on standard error.",
    "",
    "Each setting is a flag, an environment variable, or a key of the JSON file that --config names, the first of them",
    "that gives it. An empty variable counts as not set. Relative paths in the file start at the file's directory.",
    "",
    "Options:",
    settingsHelp(),
    "",
    `A server that is followed (--source follow:URL) and knows keys is shown the one in ${LEADER_KEY_VARIABLE}, of the plan pro.`,
    `Etherscan (--enrich etherscan) is asked with the key in ${ETHERSCAN_KEY_VARIABLE}.`,
  ].join("\n");
}

/** `flarewire serve`: resolves when the gateway has stopped. */
export async function serve(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const { environment } = terminal;
  const presets = { data: stateDirectory(environment) };
  const { config, isGiven } = loadConfig({ args, environment, presets });
  const isDataOptional = !isGiven("data");
  const leaderKey = keyFrom(environment, LEADER_KEY_VARIABLE);
  const etherscanKey = keyFrom(environment, ETHERSCAN_KEY_VARIABLE);
  const logger = createLogger(config.logLevel);
  const shutdown = watchShutdown(process);
  const crash = (error: unknown) => {
    logger.fatal({ err: error }, "unexpected error: stopping");
    process.exit(EXIT.retry);
  };
  process.on("uncaughtException", crash).on("unhandledRejection", crash);
  // Whoever read the line below may close the pipe; the gateway goes on.
  terminal.stdout.on("error", () => {});
  try {
    const { signal: ended } = shutdown;
    const start = config.workers === 1 ? startGateway : startWithWorkers;
    const gateway = await start(config, { logger, leaderKey, etherscanKey, isDataOptional, signal: ended });
    if (!ended.aborted) terminal.stdout.write(`${greeting(gateway, config)}\n`);
    const cause = await shutdown.requested;
    logger.info({ cause, drainMs: config.drainMs }, "stopping");
    await gateway.stop();
    logger.info("stopped");
    return EXIT.clean;
  } finally {
    shutdown.dispose();
    process.off("uncaughtException", crash).off("unhandledRejection", crash);
  }
}

/** Where a program keeps its state by the XDG Base Directory Specification; it has paths that are not absolute ignored. */
function stateDirectory({ XDG_STATE_HOME: home = "" }: Terminal["environment"]): string {
  return join(isAbsolute(home) ? home : join(homedir(), ".local", "state"), "flarewire");
}

/** `flarewire serves http://127.0.0.1:8080 …`: for people, and for scripts that wait for the address. */
function greeting({ url }: Gateway, config: Config): string {
  const { source, feed, file, speed, exchanges, chain, live } = config;
  const pace = speed === Number.POSITIVE_INFINITY ? "at full speed" : `at ×${speed}`;
  const markets = {
    simulated: `a simulated market ${pace}`,
    replay: `the recorded market ${file} ${pace}`,
    exchange: `the live markets of ${exchanges.join(", ")}`,
    chain: `the live markets of ${chain}`,
    live: `the live markets of ${live.map((part) => (part === "exchange" ? exchanges.join(", ") : part)).join(", ")}`,
  };
  const leader = leaderOf(config);
  const others = leader === undefined ? `what ${source} says` : `the events of ${leader}, which it follows`;
  const from = source === "engine" ? markets[feed] : others;
  return `flarewire serves ${url}${config.basePath} with ${from}; Ctrl-C stops`;
}
