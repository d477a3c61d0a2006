import { notifyLog } from "../../base/lib/notify.ts";
import type { Probe } from "../../base/lib/probe.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import type { FeedKind } from "../feed-kind.ts";
import { ServiceClient, UnexpectedAnswer } from "../service/service-client.ts";
import { urlSetting } from "../service/url-setting.ts";
import { createAggregatorFeed } from "./aggregator-feed.ts";
import { ACCEPT, AGGREGATED, listUrl, readPools } from "./gecko-terminal.ts";

const SETTINGS = {
  geckoterminalUrl: urlSetting("geckoterminalUrl", "https://api.geckoterminal.com/api/v2", "GeckoTerminal"),
};

const GROUPS = AGGREGATED.map(({ group }) => group);

/** The pools that an aggregator lists as trending or new. */
export const aggregator: FeedKind<typeof SETTINGS> = {
  name: "aggregator",
  settings: SETTINGS,
  parts: [
    {
      name: "aggregator",
      settings: ["geckoterminalUrl"],
      groups: GROUPS,
      describe: () => "GeckoTerminal",
      open: ({ geckoterminalUrl: url }, { clock, logger, otherGroups }) =>
        createAggregatorFeed({
          url,
          networks: AGGREGATED,
          // A chain that another part follows reports its own listings.
          listings: new Set(GROUPS.filter((group) => !otherGroups.has(group))),
          clock,
          notify: notifyLog(logger),
        }),
      checks: ({ geckoterminalUrl }, clock) => aggregatorProbes(geckoterminalUrl, clock),
    },
  ],
};

function aggregatorProbes(url: string, clock: Clock): readonly Probe[] {
  const client = new ServiceClient({ clock, pauseMs: 500, headers: { accept: ACCEPT } });
  const probeOf = (network: (typeof AGGREGATED)[number]): Probe => ({
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
  return AGGREGATED.map((network) => client.remarked(probeOf(network)));
}
