import { expect, test } from "vitest";
import type { Network } from "../../../src/feeds/chain/network.ts";
import { NETWORKS } from "../../../src/feeds/chain/networks.ts";

const QUOTES: Readonly<Record<string, readonly string[]>> = {
  bsc: "WBNB:18 USDT:18 USDC:18 USD1:18 FDUSD:18 BTCB:18 ETH:18 CAKE:18".split(" "),
  polygon: "WPOL:18 USDC:6 USDC.e:6 USDT:6 WETH:18 DAI:18 WBTC:8".split(" "),
  avalanche: "WAVAX:18 USDC:6 USDt:6 USDC.e:6 USDT.e:6 BTC.b:8 WETH.e:18".split(" "),
  base: "WETH:18 USDC:6 USDbC:6 USDT:6 DAI:18 cbBTC:8 VIRTUAL:18".split(" "),
};

test.each(Object.values<Network>(NETWORKS))(
  "[preset] $name follows the tokens in which most of its pools are priced, with their decimals",
  ({ name, quotes }) => {
    expect(quotes.map(({ symbol, decimals }) => `${symbol}:${decimals}`)).toEqual(QUOTES[name]);
  },
);

test.each(Object.values<Network>(NETWORKS))(
  "[preset] each contract of $name is named once, in lower case, and its endpoints have two hosts or more",
  ({ factories, quotes, rpcUrls }) => {
    const addresses = [...factories, ...quotes].map(({ address }) => address);
    expect(addresses.filter((address) => !/^0x[0-9a-f]{40}$/.test(address))).toEqual([]);
    expect(new Set(addresses).size).toBe(addresses.length);
    expect(new Set(rpcUrls.map((url) => new URL(url).host)).size).toBeGreaterThan(1);
  },
);
