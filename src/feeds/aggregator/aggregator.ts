import { notifyLog } from "../../base/lib/notify.ts";
import type { Probe } from "../../base/lib/probe.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import { isAdditional } from "../../base/model/index.ts";
import { setting } from "../../base/settings/index.ts";
import type { FeedKind } from "../feed-kind.ts";
import { ServiceClient, UnexpectedAnswer } from "../service/service-client.ts";
import { urlSetting } from "../service/url-setting.ts";
import { someOf } from "../some-of.ts";
import { createAggregatorFeed } from "./aggregator-feed.ts";
import { ACCEPT, AGGREGATED, type AggregatedNetwork, listUrl, readPools } from "./gecko-terminal.ts";

const GROUPS = AGGREGATED.map(({ group }) => group);

const SETTINGS = {
  aggregatorGroups: setting("aggregatorGroups", someOf(GROUPS), {
    default: GROUPS.filter((group) => !isAdditional(group)).join(","),
    example: "bsc,solana",
    description: "Groups whose trending and new pools the aggregator reports",
  }),
  geckoterminalUrl: urlSetting("geckoterminalUrl", "https://api.geckoterminal.com/api/v2", "GeckoTerminal"),
};

/** The pools that an aggregator lists as trending or new. */
export const aggregator: FeedKind<typeof SETTINGS> = {
  name: "aggregator",
  settings: SETTINGS,
  parts: [
    {
      name: "aggregator",
      settings: ["aggregatorGroups", "geckoterminalUrl"],
      groups: ({ aggregatorGroups }) => aggregatorGroups,
      describe: () => "GeckoTerminal",
      open: ({ aggregatorGroups, geckoterminalUrl: url }, { clock, logger, otherGroups }) =>
        createAggregatorFeed({
          url,
          networks: networksOf(aggregatorGroups),
          // A chain that another part follows reports its own listings.
          listings: new Set(aggregatorGroups.filter((group) => !otherGroups.has(group))),
          clock,
          notify: notifyLog(logger),
        }),
      checks: ({ aggregatorGroups, geckoterminalUrl }, clock) =>
        aggregatorProbes(geckoterminalUrl, networksOf(aggregatorGroups), clock),
    },
  ],
};

/** Returns the networks of these groups, in the order of the table of groups. */
function networksOf(groups: readonly string[]): readonly AggregatedNetwork[] {
  return AGGREGATED.filter(({ group }) => groups.includes(group));
}

function aggregatorProbes(
  url: string,
  networks: readonly AggregatedNetwork[],
  clock: Clock,
): readonly Probe[] {
  const client = new ServiceClient({ clock, pauseMs: 500, headers: { accept: ACCEPT } });
  const probeOf = (network: AggregatedNetwork): Probe => ({
    service: "geckoterminal",
    what: `${network.id} pools`,
    host: new URL(url).hostname,
    run: async (signal) => {
      const read = (body: unknown) => readPools(body, network, clock.now());
      const pools = await client.require({ url: listUrl(url, network, "trending"), read }, signal);
      if (pools.length === 0) throw new UnexpectedAnswer("lists no pool");
      return `${pools.length} trending pools`;
    },
  });
  return networks.map((network) => client.remarked(probeOf(network)));
}
