import type { SharedLog } from "../gateway/start/shared-log.ts";
import { cluster } from "../scale/cluster/index.ts";
import type { Config } from "./config/config.ts";

/** The logs that several gateways can share. At most one is on. */
// biome-ignore format: one line each
export const SHARED_LOGS = [
  cluster,
] as const;

/** Returns the shared log that the settings turn on; `undefined` if none is on. */
export function sharedLogOf(config: Config): SharedLog | undefined {
  const all: readonly SharedLog[] = SHARED_LOGS;
  return all.find((log) => log.isOn(config));
}
