import type { Clock } from "../../lib/time/clock.ts";
import type { EnrichersOptions } from "../enrich/create-enrichers.ts";
import type { EnricherName, Facts } from "../enrich/enricher.ts";
import type { Lookup } from "../enrich/lookup-enricher.ts";
import { coingecko, dexscreener, etherscan, sourcify } from "../enrich/services.ts";
import type { Table } from "../enrich/table-enricher.ts";
import { ServiceClient, UnexpectedAnswer } from "../service/service-client.ts";
import type { HostlessProbe, Probe } from "./probe.ts";

/** The tested token: wrapped BNB on BSC, which every service knows. */
const TOKEN = "0xbb4cdb9cbd36b01bd1cbaebf2de08d9173bc095c";
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

export function enricherProbes({
  names,
  urls,
  etherscanKey,
  clock,
}: Pick<EnrichersOptions, "names" | "urls" | "etherscanKey" | "clock">): readonly Probe[] {
  const probes: Readonly<Record<EnricherName, () => HostlessProbe>> = {
    coingecko: () => tableProbe(coingecko(urls.coingecko), "tokens with an address", clock),
    sourcify: () => lookupProbe(sourcify(urls.sourcify), clock),
    etherscan: () =>
      etherscanKey === undefined
        ? {
            service: "etherscan",
            what: "contract",
            run: () => Promise.reject(new UnexpectedAnswer("has no key; set FLAREWIRE_ETHERSCAN_KEY")),
          }
        : lookupProbe(etherscan(urls.etherscan, etherscanKey), clock),
    dexscreener: () => lookupProbe(dexscreener(urls.dexscreener), clock),
  };
  return [...new Set(names)].map((name) => ({ ...probes[name](), host: new URL(urls[name]).hostname }));
}

function tableProbe({ name, url, read }: Table, counted: string, clock: Clock): HostlessProbe {
  return {
    service: name,
    what: "list",
    run: async (signal) => `${(await ask(url, read, clock, signal))?.size ?? 0} ${counted}`,
  };
}

function lookupProbe({ name, url, read }: Lookup, clock: Clock): HostlessProbe {
  const run = async (signal: AbortSignal) => {
    const facts = await ask(url("bsc", [TOKEN]), (body) => read(body, [TOKEN]), clock, signal);
    const known = facts?.get(TOKEN);
    return known ? `${Object.keys(known).join(", ")} of wrapped BNB` : "no facts about wrapped BNB";
  };
  return { service: name, what: "token", run };
}

async function ask(
  url: string,
  read: (body: unknown) => ReadonlyMap<string, Facts>,
  clock: Clock,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Facts> | undefined> {
  const client = new ServiceClient({ clock, pauseMs: 0, timeoutMs: 30_000, maxBytes: MAX_ANSWER_BYTES });
  const asked = await client.ask({ url, read, tries: 1 }, signal);
  if (asked.kind === "failed") throw new UnexpectedAnswer(asked.reason);
  return asked.kind === "ok" ? asked.value : undefined;
}
