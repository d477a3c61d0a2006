import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { MINUTE_MS, SECOND_MS } from "../../../src/base/lib/time/time.ts";
import { createChainFeed } from "../../../src/feeds/chain/chain-feed.ts";
import type { Network } from "../../../src/feeds/chain/network.ts";
import { NETWORKS } from "../../../src/feeds/chain/networks.ts";
import { PacedClock } from "../../support/time/paced-clock.ts";
import { ChainEndpoint } from "../../support/world/chain-endpoint.ts";
import { SyntheticChain } from "../../support/world/synthetic-chain.ts";

const DENSITY = { pools: 4, swaps: 2, pairs: 20, others: 1 };
/** Number of trades to read. */
const TRADES = 12;

/** The row of a chain that does not exist. It is of the OP Stack: blocks begin with a deposit. */
const MADE_UP: Network = {
  name: "made-up",
  group: "avalanche",
  chainId: 4_242_424,
  finalityBlocks: 2,
  isFinalByDepth: true,
  factories: [
    { name: "Pairs", form: "v2", address: `0x${"f2".repeat(20)}` },
    { name: "Ranges", form: "v3", address: `0x${"f3".repeat(20)}` },
  ],
  quotes: [
    {
      symbol: "WCOIN",
      decimals: 18,
      address: `0x${"c0".repeat(20)}`,
      isStable: false,
      isWrappedCoin: true,
    },
    { symbol: "USD", decimals: 6, address: `0x${"d0".repeat(20)}`, isStable: true },
  ],
  rpcUrls: [],
};

test.each<Network>([MADE_UP, NETWORKS.base])(
  "[recipe] $name is followed by its row alone: every trade of its blocks, seconds old, each once",
  async (network) => {
    const clock = new PacedClock(20, Date.UTC(2026, 10, 29));
    const chain = new SyntheticChain(network, DENSITY, () => clock.now());
    await using endpoint = await ChainEndpoint.open(chain, clock, 1, true);
    const stop = new AbortController();
    const feed = createChainFeed({
      ...{ network, urls: [endpoint.node.url], clock },
      ...{ presentMs: 4 * SECOND_MS, backfillMs: 4 * SECOND_MS },
    });
    const trades: string[] = [];
    const ages: number[] = [];
    let firstAtMs = Number.POSITIVE_INFINITY;
    for await (const event of feed.events(stop.signal)) {
      if (event.kind !== "trade") continue;
      firstAtMs = Math.min(firstAtMs, event.at);
      ages.push(clock.now() - event.at);
      trades.push(`${event.at} ${event.group} ${event.token} ${event.side}`);
      if (trades.length === TRADES) break;
    }
    stop.abort();
    const first = chain.head - Math.ceil((clock.now() - firstAtMs) / chain.blockMs) - 1;
    const expected = Array.from({ length: chain.head - first + 1 }, (_, index) => first + index)
      .filter((number) => chain.atMs(number) >= firstAtMs)
      .flatMap((number) =>
        chain
          .tradesOf(number)
          .map(({ token, side }) => `${chain.atMs(number)} ${network.group} ${token} ${side}`),
      );
    expect(trades).toEqual(expected.slice(0, TRADES));
    // The chain's own finality is 20 minutes late.
    expect(Math.max(...ages)).toBeLessThan(MINUTE_MS);
  },
  MINUTE_MS,
);

test("[recipe] no code names a chain: only the tables do, and the examples of settings", () => {
  const folder = join(import.meta.dirname, "../../../src/feeds/chain");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".ts"),
  );
  const named = files.filter((file) => {
    const code = readFileSync(join(folder, file), "utf8").replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, "");
    return Object.keys(NETWORKS).some((name) => new RegExp(`"${name}"|\\b${name}[:.]`).test(code));
  });
  expect(named.toSorted()).toEqual(["chain-settings.ts", "locks/lockers.ts", "networks.ts"]);
});
