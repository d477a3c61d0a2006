import type { Logger } from "pino";
import { type Clock, systemClock } from "../base/lib/time/clock.ts";
import { type Epoch, FlarewireError } from "../base/protocol/index.ts";
import type { RestoredState } from "../gateway/persistence/index.ts";
import type { ServiceKeys, SnapshotSource } from "../gateway/source/index.ts";
import { type Extension, type Gateway, type OpenFrontend, runGateway } from "../gateway/start/index.ts";
import { type Config, leaderOf } from "./config/config.ts";
import { createOpenStore, openPersistence } from "./data/file-persistence.ts";
import { decisiveSettings } from "./decisive-settings.ts";
import { EXTENSIONS } from "./extensions.ts";
import { identityOf, openSource } from "./open-source.ts";
import { createLogger } from "./server/create-logger.ts";
import { openServer } from "./server/open-server.ts";
import { openTokenSource } from "./server/token-source.ts";
import { sharedLogOf } from "./shared-logs.ts";

/** Replacements for the real parts, for tests and embedding programs. */
export interface GatewayOptions {
  readonly clock?: Clock | undefined;
  readonly logger?: Logger | undefined;
  /** Replaces the source that the config names. */
  readonly source?: SnapshotSource | undefined;
  /** Key that an edge presents to its leader. Its plan must be `pro`. Default: none. */
  readonly leaderKey?: string | undefined;
  /** Password of the servers that the setting `cluster` names. Default: none. */
  readonly clusterPassword?: string | undefined;
  /** Keys of the services that the setting `enrich` names. Default: none. */
  readonly enricherKeys?: ServiceKeys | undefined;
  /** Replaces the extensions, in the order in which they are opened. Default: all. */
  readonly extensions?: readonly Extension[] | undefined;
  /**
   * Holds events in memory if the data directory is unusable, and reports it. Default false: the
   * start fails, because an operator who names a directory relies on it.
   */
  readonly isDataOptional?: boolean | undefined;
  /** Epoch of a log in memory, for reproducible results. Default: random. */
  readonly epoch?: Epoch | undefined;
  /** Called every 3 seconds of the warm-up with the percentage that was read, if that has grown. */
  readonly onWarmup?: ((percent: number) => void) | undefined;
  /**
   * Ends the wait for the first snapshot. Rejects the start if a cluster's servers have not
   * answered yet. Only {@link Gateway.stop} stops a started gateway.
   */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Starts a gateway: opens its parts, listens and polls. Resolves when the first snapshot is served,
 * when `signal` aborts, when the source ends, or after 5 seconds if the source is not live.
 *
 * Rejects with FlarewireError `invalid-setting` when it cannot listen, with InputError when a file
 * cannot be read, and while another process uses the data directory.
 */
export function startGateway(config: Config, options: GatewayOptions = {}): Promise<Gateway> {
  return startGatewayWithFrontend((server) => openServer(config, server), config, options);
}

/** Starts a gateway like {@link startGateway}, in another server. */
export async function startGatewayWithFrontend(
  openFrontend: OpenFrontend,
  config: Config,
  options: GatewayOptions,
): Promise<Gateway> {
  assertConfig(config);
  const { isDataOptional, leaderKey, enricherKeys, onWarmup, signal } = options;
  const clock = options.clock ?? systemClock;
  const logger = options.logger ?? createLogger(config.logLevel);
  const extensions: readonly Extension[] = options.extensions ?? EXTENSIONS;
  const [openCopy] = extensions.flatMap((extension) => extension.openCopy ?? []);
  const identity = identityOf(config, options.source?.info.name);
  const stored = { config, clock, logger, isDataOptional, identity };
  const open = (restored: RestoredState | undefined) =>
    openSource(config, { clock, logger, restored, leaderKey, enricherKeys }, options.source);
  const joined = await sharedLogOf(config)?.join(config, {
    clock,
    logger,
    openCopy,
    signal,
    password: options.clusterPassword,
    market: {
      ...identity,
      settings: decisiveSettings(config, options.source?.info.name),
      open: (restored) => {
        const opened = open(restored);
        if (opened.kind === "snapshots") return opened;
        throw new Error("a node of a cluster cannot follow another gateway");
      },
    },
  });
  const persistence = joined?.persistence ?? openPersistence({ ...stored, epoch: options.epoch });
  // A shared log is not in the data directory and does not lock it. Other processes of the user
  // may use the default one.
  const isOwnDirectory = !joined || !isDataOptional;
  const settings = isOwnDirectory ? config : { ...config, data: "none" };
  try {
    return await runGateway({
      settings,
      clock,
      logger,
      persistence,
      extensions,
      openFrontend,
      openTokenSource,
      onWarmup,
      signal,
      state: joined?.state,
      tasks: joined?.tasks,
      leaderKey: leaderOf(config) === undefined ? undefined : leaderKey,
      openStore: createOpenStore({ ...stored, config: settings }),
      openSource: () => joined?.opened ?? open(persistence.restored),
    });
  } catch (error) {
    await persistence.close();
    await joined?.opened.close?.();
    throw error;
  }
}

/** Rejects plain settings, which an untyped program may pass instead of a Config. */
function assertConfig(given: unknown): void {
  if (Object(given).logLevel !== undefined) return;
  throw new FlarewireError(
    "invalid-setting",
    "expected a Config; create one with createConfig(), for example startGateway(createConfig({ port: 0 }))",
  );
}
