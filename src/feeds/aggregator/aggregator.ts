import { notifyLog } from "../../base/lib/notify.ts";
import type { FeedKind } from "../feed-kind.ts";
import { urlSetting } from "../service/url-setting.ts";
import { createAggregatorFeed } from "./aggregator-feed.ts";
import { aggregatorProbes } from "./aggregator-probes.ts";
import { AGGREGATED } from "./gecko-terminal.ts";

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
