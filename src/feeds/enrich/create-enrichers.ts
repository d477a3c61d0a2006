import { join } from "node:path";
import type { Notify } from "../../base/lib/notify.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import { ServiceClient, type ServiceOptions } from "../service/service-client.ts";
import type { Enricher, EnricherName } from "./enricher.ts";
import { FactCache } from "./fact-cache.ts";
import { LookupEnricher } from "./lookup-enricher.ts";
import { coingecko, coingeckoHeaders, dexscreener, etherscan, sourcify } from "./services.ts";
import { TableEnricher } from "./table-enricher.ts";

interface EnricherKeys {
  readonly etherscan?: string | undefined;
  /** Without one, CoinGecko limits requests per IP address. */
  readonly coingecko?: string | undefined;
}

export interface EnrichersOptions {
  readonly names: readonly EnricherName[];
  /** Base address of each service. */
  readonly urls: Readonly<Record<EnricherName, string>>;
  readonly keys: EnricherKeys;
  /** Directory for their cached answers; `undefined`: memory only. */
  readonly directory: string | undefined;
  readonly clock: Clock;
  /**
   * Receives a message when a service fails, recovers or refuses a chain, and when its answers
   * cannot be saved.
   */
  readonly notify: Notify;
  /** Default: the global `fetch`. */
  readonly fetch?: typeof fetch;
}

/** Minimum milliseconds between two requests, within each service's limit if it is known. */
const PAUSE_MS: Readonly<Record<EnricherName, number>> = {
  coingecko: 10_000,
  sourcify: 500,
  etherscan: 500,
  dexscreener: 250,
};
/** CoinGecko's list of coins, and a verified contract with its sources, take several megabytes. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
const TIMEOUT_MS = 30_000;

/** Creates an enricher for each name, with a client and a cache. Skips Etherscan without a key. */
export function createEnrichers(options: EnrichersOptions): readonly Enricher[] {
  const { names, keys } = options;
  return [...new Set(names)].flatMap((name) =>
    name === "etherscan" && keys.etherscan === undefined ? [] : [createEnricher(name, options)],
  );
}

function createEnricher(name: EnricherName, options: EnrichersOptions): Enricher {
  const { urls, keys, directory, clock } = options;
  const url = urls[name];
  const client = new ServiceClient(clientOptions(name, options));
  const path = directory === undefined ? undefined : join(directory, `enrich-${name}.json`);
  const cache = new FactCache(path, (problem) =>
    options.notify("warn", `cannot save the answers of ${name}: ${problem}; a restart would repeat requests`),
  );
  switch (name) {
    case "coingecko":
      return new TableEnricher(coingecko(url), client, clock, cache);
    case "sourcify":
      return new LookupEnricher(sourcify(url), client, clock, cache);
    case "etherscan":
      return new LookupEnricher(etherscan(url, keys.etherscan ?? ""), client, clock, cache, options.notify);
    case "dexscreener":
      return new LookupEnricher(dexscreener(url), client, clock, cache);
  }
}

function clientOptions(name: EnricherName, options: EnrichersOptions): ServiceOptions {
  const { urls, keys, clock, notify, fetch } = options;
  return {
    headers: name === "coingecko" ? coingeckoHeaders(urls.coingecko, keys.coingecko) : {},
    clock,
    fetch,
    pauseMs: PAUSE_MS[name],
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_ANSWER_BYTES,
    onHealth: (trouble) =>
      trouble === undefined
        ? notify("info", `${name} responds again`)
        : notify("warn", `${name} ${trouble}; retrying later`),
  };
}
