import type { HostlessProbe, Probe } from "../../base/lib/probe.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import { CHAIN_GROUPS, type ChainGroup, isAdditional } from "../../base/model/index.ts";
import { quoteTokensOf } from "../quote-tokens.ts";
import { ServiceClient, UnexpectedAnswer } from "../service/service-client.ts";
import type { EnrichersOptions } from "./create-enrichers.ts";
import type { EnricherName, Facts } from "./enricher.ts";
import { type Lookup, refusalOf } from "./lookup-enricher.ts";
import { coingecko, coingeckoHeaders, dexscreener, etherscan, sourcify } from "./services.ts";
import type { Table } from "./table-enricher.ts";

/** The chains that are probed if none is followed. */
const DEFAULT_CHAINS = CHAIN_GROUPS.filter((group) => !isAdditional(group));

const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

interface EnricherProbes extends Pick<EnrichersOptions, "names" | "urls" | "keys" | "clock"> {
  /**
   * The groups to query about; those that are no chain's are ignored. All but the additional
   * chains if no group is left.
   */
  readonly groups: readonly string[];
}

export function enricherProbes({ names, urls, keys, clock, groups }: EnricherProbes): readonly Probe[] {
  const followed = CHAIN_GROUPS.filter((group) => groups.includes(group));
  const lookupOf = (lookup: Lookup) =>
    lookupProbe(lookup, followed.length === 0 ? DEFAULT_CHAINS : followed, clock);
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
  const { client, send } = senderOf(clock, headers);
  return client.remarked({
    service: name,
    what: "list",
    run: async (signal) => {
      const outcome = await send(url, read, signal);
      if (outcome.kind !== "ok") throw new UnexpectedAnswer(outcome.reason);
      return `${outcome.value.size} ${counted}`;
    },
  });
}

/**
 * Queries the service for each chain, because it may refuse some. Fails if it refuses all, or a
 * request fails.
 */
function lookupProbe(lookup: Lookup, groups: readonly ChainGroup[], clock: Clock): HostlessProbe {
  const { client, send } = senderOf(clock);
  const run = async (signal: AbortSignal) => {
    const found: string[] = [];
    const refused: [ChainGroup, string][] = [];
    for (const group of groups.filter(lookup.serves)) {
      // The wrapped coin, which every service knows.
      const [token] = quoteTokensOf(group);
      if (!token) continue;
      const { address, symbol } = token;
      const read = (body: unknown) => lookup.read(body, [address], group);
      const outcome = await send(lookup.url(group, [address]), read, signal);
      const facts = outcome.kind === "ok" ? outcome.value.get(address) : undefined;
      if (outcome.kind === "refused") refused.push([group, outcome.reason]);
      else found.push(facts ? `${Object.keys(facts).join(", ")} of ${symbol}` : `no facts about ${symbol}`);
    }
    const words = [...found, ...(refused.length === 0 ? [] : [refusalOf(refused)])].join("; ");
    if (found.length === 0) throw new UnexpectedAnswer(words);
    return words;
  };
  return client.remarked({ service: lookup.name, what: "token", run });
}

/**
 * Returns a client, and a function that sends a request by it, without retries. That rejects with
 * UnexpectedAnswer if the request fails.
 */
function senderOf(clock: Clock, headers: Readonly<Record<string, string>> = {}) {
  const limits = { pauseMs: 500, timeoutMs: 30_000, maxBytes: MAX_ANSWER_BYTES };
  const client = new ServiceClient({ clock, headers, ...limits });
  type Read = (body: unknown) => ReadonlyMap<string, Facts>;
  const send = async (url: string, read: Read, signal: AbortSignal) => {
    const outcome = await client.ask({ url, read, tries: 1 }, signal);
    if (outcome.kind === "failed") throw new UnexpectedAnswer(outcome.reason);
    return outcome;
  };
  return { client, send };
}
