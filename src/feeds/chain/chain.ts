import { join } from "node:path";
import { notifyLog } from "../../base/lib/notify.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import { HOUR_MS } from "../../base/lib/time/time.ts";
import { isAdditional } from "../../base/model/index.ts";
import type { Feed } from "../../gateway/source/index.ts";
import type { FeedContext, FeedKind, Part } from "../feed-kind.ts";
import { gapProblem } from "../gap-problem.ts";
import { createChainFeed } from "./chain-feed.ts";
import { CHAIN_SETTINGS } from "./chain-settings.ts";
import { NETWORK_NAMES, NETWORKS, type NetworkName } from "./networks.ts";
import { endpointProbes, hostProbes } from "./probe/endpoint-probes.ts";

/** After a longer gap, the stored state has only expired baselines. */
const MAX_GAP_MS = 6 * HOUR_MS;

/** A chain's pools, read from its blocks. */
export const chain: FeedKind<typeof CHAIN_SETTINGS> = {
  name: "chain",
  settings: CHAIN_SETTINGS,
  market: {
    title: "a chain's market",
    about: "the markets of one chain",
    settings: ["chain", "rpc"],
    isRealTime: true,
    startsAtPresent: true,
    defaults: () => ({ warmup: "10m" }),
    describe: (settings) => `the live markets of ${settings.chain}`,
    open: (settings, context, resume) => ({
      feed: openChain(settings.chain, settings.rpc, settings.warmupMs, context, resume?.afterMs),
    }),
    resume(_settings, { afterMs }, nowMs) {
      const problem = gapOf(afterMs, nowMs);
      return problem === undefined ? { presentAtMs: nowMs } : { problem };
    },
    identity: (settings) => ` ${settings.chain}`,
    // Endpoints do not matter, because they serve the same chain.
    fingerprint: (settings) => ({ chain: settings.chain, refreshMs: settings.refreshMs }),
    groups: (settings) => [NETWORKS[settings.chain].group],
    checks: (settings, clock) => checksOf(settings.chain, settings.rpc, clock),
  },
  parts: NETWORK_NAMES.map(
    (name): Part<typeof CHAIN_SETTINGS> => ({
      name,
      settings: [`${name}Rpc`],
      groups: () => [NETWORKS[name].group],
      isOptional: isAdditional(NETWORKS[name].group),
      describe: () => name,
      open: (settings, context) =>
        openChain(name, settings[`${name}Rpc`], settings.warmupMs, context, context.afterMs),
      gap: gapOf,
      checks: (settings, clock) => checksOf(name, settings[`${name}Rpc`], clock),
    }),
  ),
};

function openChain(
  name: NetworkName,
  urls: readonly string[],
  backfillMs: number,
  { clock, logger, directory }: FeedContext,
  afterMs: number | undefined,
): Feed {
  return createChainFeed({
    network: NETWORKS[name],
    urls,
    ...(directory === undefined ? {} : { factsFile: join(directory, `chain-${name}.sqlite`) }),
    clock,
    backfillMs,
    ...(afterMs === undefined ? {} : { resumeAfterMs: afterMs }),
    notify: notifyLog(logger, { chain: name }),
  });
}

function gapOf(afterMs: number, nowMs: number): string | undefined {
  return gapProblem("chains", MAX_GAP_MS, afterMs, nowMs);
}

function checksOf(name: NetworkName, configuredUrls: readonly string[], clock: Clock) {
  const network = NETWORKS[name];
  const urls = configuredUrls.length > 0 ? configuredUrls : network.rpcUrls;
  return [
    ...[...new Set(urls)].flatMap((url, index) => endpointProbes({ network, url, number: index + 1, clock })),
    ...hostProbes(network, urls),
  ];
}
