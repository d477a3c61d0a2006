import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { SECOND_MS } from "../../base/lib/time/time.ts";
import type { Gateway } from "../../gateway/start/index.ts";
import {
  CLUSTER_PASSWORD_VARIABLE,
  type Config,
  keyFrom,
  LEADER_KEY_VARIABLE,
  leaderOf,
  loadConfig,
  npmFlagsHint,
  serviceKeysFrom,
  settingsHelp,
} from "../config/config.ts";
import { FEEDS } from "../feeds.ts";
import { marketOf } from "../market.ts";
import { startGateway } from "../serve.ts";
import { createLogger } from "../server/create-logger.ts";
import { EXIT, type ExitCode, watchShutdown } from "./shutdown.ts";
import { say, type Terminal } from "./terminal/terminal.ts";

/** The same paths from src/cli and from dist/cli. */
const PAGES = ["dashboard/index.html", "widget/widget.js"].map(
  (file) => new URL(`../../../dist/${file}`, import.meta.url),
);
const NOT_BUILT =
  "the dashboard and the widget are not built: run npm run pages, which needs development dependencies";

export function serveHelp(): string {
  return [
    "Usage: flarewire serve [options]",
    "",
    "Serves the REST API and the live events until SIGTERM or SIGINT. The first signal disconnects clients over the drain",
    "time, then exits; another one, a second later, exits at once. Prints its address. Logs go to standard error: as JSON",
    "lines, or as text on a terminal.",
    "",
    "Set a value with a flag, an environment variable, or a key of the JSON file that --config names; the first of these",
    "wins. An empty variable counts as not set. Paths in the file are relative to its directory.",
    "",
    "Options:",
    settingsHelp(),
    "",
    `To follow a server with keys (--source follow:URL), set ${LEADER_KEY_VARIABLE} to a key with the pro plan.`,
    `For servers of a cluster with a password (--cluster redis://HOST), set ${CLUSTER_PASSWORD_VARIABLE}.`,
    ...FEEDS.flatMap(({ keys }) => keys?.help ?? []),
  ].join("\n");
}

/** Runs `flarewire serve`. Resolves when the gateway has stopped. */
export async function serve(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const { environment } = terminal;
  const presets = { data: stateDirectory(environment) };
  const hint = npmFlagsHint(args, environment);
  const { config, isGiven } = load({ args, environment, presets }, hint, terminal);
  const isDataOptional = !isGiven("data");
  const leaderKey = keyFrom(environment, LEADER_KEY_VARIABLE);
  const clusterPassword = keyFrom(environment, CLUSTER_PASSWORD_VARIABLE, "of the cluster's servers");
  const enricherKeys = serviceKeysFrom(environment);
  const logger = createLogger(config.logLevel);
  if (hint !== undefined) logger.warn(hint);
  if (!PAGES.every((page) => existsSync(page))) logger.warn(NOT_BUILT);
  // Only on a terminal: elsewhere, standard error contains only JSON lines. Returns true if the
  // line was printed.
  const sayToPerson = (line: string) => {
    const isTerminal = terminal.stderr.isTTY === true;
    if (isTerminal) say(terminal, `flarewire: ${line}`);
    return isTerminal;
  };
  const shutdown = watchShutdown(process);
  const crash = (error: unknown) => {
    logger.fatal({ err: error }, "unexpected error: stopping");
    process.exit(EXIT.retry);
  };
  process.on("uncaughtException", crash).on("unhandledRejection", crash);
  // The reader may close the pipe after the first line. The gateway keeps running.
  terminal.stdout.on("error", () => {});
  try {
    const { signal: ended } = shutdown;
    const onWarmup = (percent: number) => sayToPerson(`warming up: ${percent} %`);
    const gateway = await startGateway(config, {
      logger,
      leaderKey,
      clusterPassword,
      enricherKeys,
      isDataOptional,
      signal: ended,
      onWarmup,
    });
    if (!ended.aborted) terminal.stdout.write(`${greeting(gateway, config)}\n`);
    const cause = await shutdown.requested;
    const within =
      config.drainMs > 0 ? `; clients are disconnected within ${config.drainMs / SECOND_MS} s` : "";
    const why = cause === "SIGINT" ? "" : ` (${cause})`;
    if (!sayToPerson(`stopping${why}${within}; after a second, another Ctrl-C exits at once`))
      logger.info({ cause, drainMs: config.drainMs }, "stopping");
    await gateway.stop();
    logger.info("stopped");
    return EXIT.clean;
  } finally {
    shutdown.dispose();
    process.off("uncaughtException", crash).off("unhandledRejection", crash);
  }
}

/**
 * Loads the settings. If they are invalid, prints the hint first: npm may have left the value of a
 * flag as an argument.
 */
function load(input: Parameters<typeof loadConfig>[0], hint: string | undefined, terminal: Terminal) {
  try {
    return loadConfig(input);
  } catch (error) {
    if (hint !== undefined) say(terminal, `flarewire serve: ${hint}`);
    throw error;
  }
}

/**
 * Returns this program's directory in the XDG state directory. Ignores a relative path, as the
 * specification demands.
 */
function stateDirectory({ XDG_STATE_HOME: home = "" }: Terminal["environment"]): string {
  return join(isAbsolute(home) ? home : join(homedir(), ".local", "state"), "flarewire");
}

/** Returns the first line of output, for people and for scripts that wait for the address. */
function greeting({ url }: Gateway, config: Config): string {
  const { source } = config;
  const leader = leaderOf(config);
  const others = leader === undefined ? `data from ${source}` : `the events of its leader ${leader}`;
  const from = source === "engine" ? marketOf(config).describe(config) : others;
  return `flarewire serves ${url}${config.basePath} with ${from}; Ctrl-C stops`;
}
