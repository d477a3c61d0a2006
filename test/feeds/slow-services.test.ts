import { afterEach, describe, expect, vi } from "vitest";
import type { Probe } from "../../src/base/lib/probe.ts";
import { SECOND_MS } from "../../src/base/lib/time/time.ts";
import { neverFlaredId } from "../../src/engine/index.ts";
import { aggregator } from "../../src/feeds/aggregator/aggregator.ts";
import { createAggregatorFeed } from "../../src/feeds/aggregator/aggregator-feed.ts";
import { AGGREGATED } from "../../src/feeds/aggregator/gecko-terminal.ts";
import { enricherProbes } from "../../src/feeds/enrich/enricher-probes.ts";
import { FactCache } from "../../src/feeds/enrich/fact-cache.ts";
import { LookupEnricher } from "../../src/feeds/enrich/lookup-enricher.ts";
import { coingecko, sourcify } from "../../src/feeds/enrich/services.ts";
import { TableEnricher } from "../../src/feeds/enrich/table-enricher.ts";
import { createGate } from "../../src/feeds/exchange/gate.ts";
import { VenueFollower } from "../../src/feeds/exchange/venue-follower.ts";
import { venueProbes } from "../../src/feeds/exchange/venue-probes.ts";
import { ServiceClient } from "../../src/feeds/service/service-client.ts";
import { UpstreamSource } from "../../src/feeds/upstream/upstream-source.ts";
import { wholeOf } from "../support/servers/scripted-upstream.ts";
import { ManualClock } from "../support/time/manual-clock.ts";
import { test } from "../support/time/still-running.ts";
import { POLLED_SNAPSHOT } from "../support/world/samples.ts";
import { listOf } from "./aggregator/stand-in.ts";
import { settle } from "./exchange/scripted-venue.ts";

const URL = "http://127.0.0.1:1";
const TOKEN = `0x${"1".repeat(40)}`;
const URLS = { coingecko: URL, sourcify: URL, etherscan: URL, dexscreener: URL };
/** The groups that the aggregator follows by default. */
const AGGREGATED_GROUPS = ["bsc", "matic", "avalanche"] as const;
const NETWORKS = AGGREGATED.filter(({ group }) => AGGREGATED_GROUPS.some((one) => one === group));
const MARKET = { feed: "live", speed: 1, warmupMs: 0 };
const SLOW = "takes more than 3 s to answer";

/** The services, without a network: every response takes as long as the test says. */
class SlowServices {
  readonly clock = new ManualClock();
  readonly stop = new AbortController();
  readonly #delayMs: number;

  constructor(delayMs: number) {
    this.#delayMs = delayMs;
  }

  /** Responds after the delay, unless the request is given up before. */
  readonly fetch = async (url: unknown, init?: RequestInit): Promise<Response> => {
    await this.clock.sleep(Math.min(this.#delayMs, 1e9), init?.signal ?? this.stop.signal);
    return Response.json(bodyOf(String(url)));
  };

  client(): ServiceClient {
    return new ServiceClient({ clock: this.clock, pauseMs: 0, random: () => 0, fetch: this.fetch });
  }

  /** Lets half a minute pass. Returns the last complaint meanwhile. */
  async pass(complaintOf: () => string | undefined): Promise<string | undefined> {
    let complaint: string | undefined;
    for (let step = 0; step < 60; step++) {
      await settle();
      this.clock.advance(SECOND_MS / 2);
      await settle();
      complaint = complaintOf() ?? complaint;
    }
    return complaint;
  }
}

function bodyOf(url: string): unknown {
  if (url.includes("/snapshot")) return wholeOf(POLLED_SNAPSHOT);
  if (url.includes("/currency_pairs"))
    return [{ id: "A_USDT", base: "A", quote: "USDT", trade_status: "tradable" }];
  if (url.includes("/tickers")) return [{ currency_pair: "A_USDT", quote_volume: "1000000" }];
  if (url.includes("/coins/list"))
    return [{ id: "a", name: "A", platforms: { "binance-smart-chain": TOKEN } }];
  return url.includes("/v2/contract/") ? { match: "exact_match" } : poolsOf(url);
}

/** Returns the aggregator's list of a network, with one pool. */
function poolsOf(url: string): unknown {
  const network = (["bsc", "polygon_pos", "avax"] as const).find((id) => url.includes(`/${id}/`)) ?? "bsc";
  return listOf(network, [{ token: TOKEN, symbol: "A" }]);
}

interface Finding {
  /** Whether its data arrived. */
  readonly hasData: boolean;
  readonly complaint: string | undefined;
}

/** The probes of each kind of service. */
const PROBES: Readonly<Record<string, (clock: ManualClock) => readonly Probe[]>> = {
  exchange: (clock) => venueProbes(createGate({ url: URL, streamUrl: URL, now: () => clock.now() }), clock),
  aggregator: (clock) =>
    aggregator.parts?.[0]?.checks(
      { ...MARKET, geckoterminalUrl: URL, aggregatorGroups: AGGREGATED_GROUPS },
      clock,
    ) ?? [],
  enrichers: (clock) =>
    enricherProbes({ names: ["coingecko", "sourcify"], urls: URLS, keys: {}, clock, groups: ["bsc"] }),
};

/** Each kind of service: runs it for a while, and returns what became of it. */
const KINDS: Readonly<Record<string, (services: SlowServices) => Promise<Finding>>> = {
  exchange: async (services) => {
    vi.stubGlobal("fetch", services.fetch);
    const { clock, stop } = services;
    const venue = createGate({ url: URL, streamUrl: URL, now: () => clock.now() });
    const none = () => undefined;
    const follower = new VenueFollower({
      ...{ venue, clock, random: () => 0, signal: stop.signal },
      ...{ onCandle: none, onTrade: none, onGap: none, notify: none },
    });
    let hasData = false;
    const listing = follower.list().then((list) => {
      hasData = list !== undefined;
    });
    const complaint = await services.pass(() => follower.trouble);
    stop.abort();
    await listing.catch(none);
    return { hasData, complaint };
  },
  aggregator: async (services) => {
    const { clock, stop, fetch } = services;
    const options = { url: URL, networks: NETWORKS, listings: new Set<never>(), random: () => 0 };
    const feed = createAggregatorFeed({ ...options, clock, fetch });
    let hasData = false;
    const reading = (async () => {
      for await (const _ of feed.events(stop.signal)) hasData = true;
    })();
    const complaint = await services.pass(() => feed.trouble?.());
    stop.abort();
    await reading.catch(() => undefined);
    return { hasData, complaint };
  },
  "enricher of tokens": async (services) => {
    const client = services.client();
    const enricher = new LookupEnricher(sourcify(URL), client, services.clock, new FactCache(undefined));
    return enriched(enricher, services);
  },
  "enricher of all tokens": async (services) => {
    const client = services.client();
    const enricher = new TableEnricher(coingecko(URL), client, services.clock, new FactCache(undefined));
    return enriched(enricher, services);
  },
  upstream: async (services) => {
    const { clock, stop, fetch } = services;
    const source = new UpstreamSource({ url: URL, clock, fetch, neverFlaredId, random: () => 0 });
    let hasData = false;
    const polling = (async () => {
      for (;;) {
        await source.poll(stop.signal);
        hasData = true;
      }
    })();
    const isFirst = "the upstream has not responded yet";
    const complaint = await services.pass(() => {
      const { reason } = source.freshness();
      return reason === "" || reason === isFirst ? undefined : reason;
    });
    stop.abort();
    await polling.catch(() => undefined);
    return { hasData, complaint };
  },
};

async function enriched(enricher: LookupEnricher | TableEnricher, services: SlowServices): Promise<Finding> {
  let hasData = false;
  const found = () => {
    hasData = true;
  };
  const running = enricher.run(found, services.stop.signal);
  enricher.note({ group: "bsc", token: TOKEN });
  const complaint = await services.pass(() => enricher.trouble);
  services.stop.abort();
  await running;
  return { hasData, complaint };
}

/** Runs the probes that need no stream. Returns their results, or why they failed. */
async function probed(probes: readonly Probe[], services: SlowServices): Promise<readonly string[]> {
  const found: string[] = [];
  const running = probes.flatMap(({ what, run }) =>
    what === "stream" || what === "candles"
      ? []
      : run(services.stop.signal).then(
          (words) => found.push(words),
          (error: Error) => found.push(error.message),
        ),
  );
  await services.pass(() => undefined);
  await Promise.all(running);
  return found;
}

afterEach(() => vi.unstubAllGlobals());

describe("a service that takes longer to answer", () => {
  const cases = [
    [1, true, "none"],
    [4, true, `(.* )?${SLOW}`],
    [10, false, "(.* )?did not respond within (10|5) s"],
    [Number.POSITIVE_INFINITY, false, "(.* )?did not respond within (10|5) s"],
  ] as const;
  test.for(cases)(
    "works and is named as the table in LIVE.md says: %d s",
    async ([delayS, hasData, complaint]) => {
      for (const [kind, run] of Object.entries(KINDS)) {
        const found = await run(new SlowServices(delayS * SECOND_MS));
        expect([kind, found.hasData]).toEqual([kind, hasData]);
        expect(`${kind}: ${found.complaint ?? "none"}`).toMatch(new RegExp(`^${kind}: ${complaint}$`));
      }
    },
  );
});

test("doctor says which exchange, aggregator or enricher takes more than three seconds to answer, and nothing about a fast one", async () => {
  for (const [kind, probesOf] of Object.entries(PROBES)) {
    for (const [delayS, remark] of [
      [1, ""],
      [4, `; but it ${SLOW}`],
    ] as const) {
      const services = new SlowServices(delayS * SECOND_MS);
      vi.stubGlobal("fetch", services.fetch);
      const found = await probed(probesOf(services.clock), services);
      expect(found.length, kind).toBeGreaterThan(1);
      for (const words of found) expect(`${kind}: ${words}`).toMatch(new RegExp(`^[^;]+${remark}$`));
    }
  }
});
