import { z } from "zod";
import { type Kind, type SettingsOf, type SettingTable, setting, text } from "../../base/settings/index.ts";

const SERVER = /^(?:[\w.-]+|\[[0-9a-f:]+\])(?::\d{1,5})?$/i;

/** The servers of a cluster, without their password, or `none`. */
const servers: Kind<string> = {
  schema: text(2_048, (given) => {
    const [, scheme, hosts = "", name = ""] = /^([a-z+]+):\/\/([^/]*)(?:\/(.*))?$/.exec(given) ?? [];
    const servers = hosts.split(",");
    if (given === "none") return true;
    if (servers.some((server) => !SERVER.test(server))) return false;
    if (scheme === "redis+sentinel" || scheme === "rediss+sentinel") return /^[\w.-]{1,64}$/.test(name);
    return (scheme === "redis" || scheme === "rediss") && servers.length === 1 && name === "";
  }),
  bound:
    "none, redis://HOST:PORT, rediss://HOST:PORT (TLS), or redis+sentinel://HOST:PORT,HOST:PORT,…/NAME (rediss+sentinel: TLS), without user or password",
  url: true,
};

const nameOfCluster: Kind<string> = {
  schema: z.string().regex(/^[a-z0-9][a-z0-9-]{0,31}$/),
  bound: "1 to 32 characters of a-z, 0-9 and -, and no leading -",
};

const user: Kind<string> = {
  schema: z.string().regex(/^[\x21-\x7E]{1,64}$/),
  bound: "1 to 64 ASCII characters, without spaces",
};

/** The cluster to join. */
export const CLUSTER_SETTINGS = {
  cluster: setting("cluster", servers, {
    default: "none",
    example: "redis://10.0.0.5:6379",
    description:
      "Redis or Valkey servers through which any number of gateways share one log, with the same cursors. One of them runs the source. none: a single gateway",
  }),
  clusterName: setting("clusterName", nameOfCluster, {
    default: "flarewire",
    example: "bsc",
    description: "Name of the cluster, equal on all its gateways and different for each market",
  }),
  clusterUser: setting("clusterUser", user, {
    default: "default",
    example: "flarewire",
    description: "User at the cluster's Redis or Valkey servers, but not at their Sentinels",
  }),
} as const satisfies SettingTable;

export type ClusterSettings = SettingsOf<typeof CLUSTER_SETTINGS>;
