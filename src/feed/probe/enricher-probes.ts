import type { Clock } from "../../lib/time/clock.ts";
import { NETWORKS } from "../chain/networks.ts";
import type { EnrichersOptions } from "../enrich/create-enrichers.ts";
import { CHAIN_GROUPS, type ChainGroup, type EnricherName, type Facts } from "../enrich/enricher.ts";
import { type Lookup, refusalOf } from "../enrich/lookup-enricher.ts";
import { coingecko, coingeckoHeaders, dexscreener, etherscan, sourcify } from "../enrich/services.ts";
import type { Table } from "../enrich/table-enricher.ts";
import { ServiceClient, UnexpectedAnswer } from "../service/service-client.ts";
import type { HostlessProbe, Probe } from "./probe.ts";

/** The tested tokens: each chain's wrapped coin, which every service knows. */
const TOKENS = {
  bsc: NETWORKS.bsc.quotes[0],
  matic: NETWORKS.polygon.quotes[0],
  avalanche: NETWORKS.avalanche.quotes[0],
} as const satisfies Record<ChainGroup, unknown>;
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

interface EnricherProbes extends Pick<EnrichersOptions, "names" | "urls" | "keys" | "clock"> {
  /** The groups to ask about; all chains if none of them is a chain's. */
  readonly groups: readonly string[];
}

export function enricherProbes({ names, urls, keys, clock, groups }: EnricherProbes): readonly Probe[] {
  const followed = CHAIN_GROUPS.filter((group) => groups.includes(group));
  const lookupOf = (lookup: Lookup) =>
    lookupProbe(lookup, followed.length === 0 ? CHAIN_GROUPS : followed, clock);
  const probes: Readonly<Record<EnricherName, () => HostlessProbe>> = {
    coingecko: () => {
      const headers = coingeckoHeaders(urls.coingecko, keys.coingecko);
      return tableProbe(coingecko(urls.coingecko), "tokens with an address", clock, headers);
    },
    sourcify: () => lookupOf(sourcify(urls.sourcify)),
    etherscan: () =>
      keys.etherscan === undefined
        ? {
            service: "etherscan",
            what: "contract",
            run: () => Promise.reject(new UnexpectedAnswer("has no key; set FLAREWIRE_ETHERSCAN_KEY")),
          }
        : lookupOf(etherscan(urls.etherscan, keys.etherscan)),
    dexscreener: () => lookupOf(dexscreener(urls.dexscreener)),
  };
  return [...new Set(names)].map((name) => ({ ...probes[name](), host: new URL(urls[name]).hostname }));
}

function tableProbe(
  { name, url, read }: Table,
  counted: string,
  clock: Clock,
  headers: Readonly<Record<string, string>>,
): HostlessProbe {
  const ask = asking(clock, headers);
  return {
    service: name,
    what: "list",
    run: async (signal) => {
      const asked = await ask(url, read, signal);
      return `${asked.kind === "ok" ? asked.value.size : 0} ${counted}`;
    },
  };
}

/** Asks about each chain, because a service may refuse some. It fails if it refuses all. */
function lookupProbe(lookup: Lookup, groups: readonly ChainGroup[], clock: Clock): HostlessProbe {
  const ask = asking(clock);
  const run = async (signal: AbortSignal) => {
    const found: string[] = [];
    const refused: [ChainGroup, string][] = [];
    for (const group of groups) {
      const { address, symbol } = TOKENS[group];
      const read = (body: unknown) => lookup.read(body, [address]);
      const asked = await ask(lookup.url(group, [address]), read, signal);
      const known = asked.kind === "ok" ? asked.value.get(address) : undefined;
      if (asked.kind === "refused") refused.push([group, asked.reason]);
      else found.push(known ? `${Object.keys(known).join(", ")} of ${symbol}` : `no facts about ${symbol}`);
    }
    const words = [...found, ...(refused.length === 0 ? [] : [refusalOf(refused)])].join("; ");
    if (found.length === 0) throw new UnexpectedAnswer(words);
    return words;
  };
  return { service: lookup.name, what: "token", run };
}

/** Returns a function that sends one request. It rejects with the reason if the request fails. */
function asking(clock: Clock, headers: Readonly<Record<string, string>> = {}) {
  const limits = { pauseMs: 500, timeoutMs: 30_000, maxBytes: MAX_ANSWER_BYTES };
  const client = new ServiceClient({ clock, headers, ...limits });
  return async (url: string, read: (body: unknown) => ReadonlyMap<string, Facts>, signal: AbortSignal) => {
    const asked = await client.ask({ url, read, tries: 1 }, signal);
    if (asked.kind === "failed") throw new UnexpectedAnswer(asked.reason);
    return asked;
  };
}
