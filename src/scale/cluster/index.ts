import type { SharedLog } from "../../gateway/start/index.ts";
import { CLUSTER_SETTINGS } from "./cluster-settings.ts";

/** A log on Redis or Valkey servers. Its client library is loaded only when it is on. */
export const cluster: SharedLog<typeof CLUSTER_SETTINGS> = {
  name: "cluster",
  settings: CLUSTER_SETTINGS,
  isOn: (settings) => settings.cluster !== "none",
  join: async (settings, joining) => {
    const { openCluster } = await import("./node/open-cluster.ts");
    return openCluster(settings, joining);
  },
  checks: async (settings, password, clock) => {
    const { clusterProbes } = await import("./node/cluster-probes.ts");
    return clusterProbes(settings, password, clock);
  },
};
