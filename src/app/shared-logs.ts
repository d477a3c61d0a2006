import type { SharedLog } from "../gateway/start/index.ts";
import { cluster } from "../scale/cluster/index.ts";
import type { Config } from "./config/config.ts";

// biome-ignore format: a shared log is removed by deleting its line.
const LIST = [
  cluster,
] as const;

export type ListedSharedLog = (typeof LIST)[number];

/** The logs that several gateways can share. At most one is on. */
export const SHARED_LOGS: readonly SharedLog[] = LIST;

/** Returns the shared log that the settings turn on; `undefined` if none is on. */
export function sharedLogOf(config: Config): SharedLog | undefined {
  return SHARED_LOGS.find((log) => log.isOn(config));
}
