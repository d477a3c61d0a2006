import { notifyLog } from "../../base/lib/notify.ts";
import { FlarewireError } from "../../base/protocol/index.ts";
import type { SettingsOf } from "../../base/settings/index.ts";
import type { FeedKind } from "../feed-kind.ts";
import { createEnrichers } from "./create-enrichers.ts";
import { enrichFeed } from "./enrich-feed.ts";
import { ENRICH_SETTINGS, KEY_VARIABLES } from "./enrich-settings.ts";
import { ENRICHERS, type EnricherName } from "./enricher.ts";
import { enricherProbes } from "./enricher-probes.ts";

/** Facts about tokens, from services that know their addresses. */
export const enrich: FeedKind<typeof ENRICH_SETTINGS> = {
  name: "enrich",
  settings: ENRICH_SETTINGS,
  keys: {
    help: `For Etherscan (--enrich etherscan), set ${KEY_VARIABLES.etherscan.variable}. CoinGecko needs no key, but uses ${KEY_VARIABLES.coingecko.variable}.`,
    variables: KEY_VARIABLES,
  },
  layer: {
    open(feed, settings, { clock, logger, directory, keys }) {
      const { enrich: names } = settings;
      if (names.length === 0) return { feed };
      if (names.includes("etherscan") && keys.etherscan === undefined) {
        const message = `enrich names etherscan, which needs a key: set ${KEY_VARIABLES.etherscan.variable} in the environment, or remove etherscan from enrich`;
        throw new FlarewireError("invalid-setting", message);
      }
      const urls = urlsOf(settings);
      const enrichers = createEnrichers({ names, urls, keys, directory, clock, notify: notifyLog(logger) });
      return { feed: enrichFeed(feed, enrichers, clock) };
    },
    // An engine with enrichers has facts that one without them lacks.
    fingerprint: (settings) => (settings.enrich.length > 0 ? { enriched: true } : {}),
    idle: (settings) => [
      {
        names: ENRICHERS.filter((name) => !settings.enrich.includes(name)).map((name) => `${name}Url`),
        reason: "while enrich does not name the service; leave it out, or add it to enrich",
      },
    ],
    checks: (settings, context) =>
      enricherProbes({ names: settings.enrich, urls: urlsOf(settings), ...context }),
  },
};

function urlsOf({
  coingeckoUrl: coingecko,
  sourcifyUrl: sourcify,
  etherscanUrl: etherscan,
  dexscreenerUrl: dexscreener,
}: SettingsOf<typeof ENRICH_SETTINGS>): Readonly<Record<EnricherName, string>> {
  return { coingecko, sourcify, etherscan, dexscreener };
}
