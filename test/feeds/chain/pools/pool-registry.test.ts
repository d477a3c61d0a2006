import { describe, expect, test } from "vitest";
import { NATIVE_COIN, type Network } from "../../../../src/feeds/chain/network.ts";
import { NETWORKS } from "../../../../src/feeds/chain/networks.ts";
import { FORMS, formOf } from "../../../../src/feeds/chain/pools/forms/forms.ts";
import { PoolRegistry } from "../../../../src/feeds/chain/pools/pool-registry.ts";
import { UsdPrices } from "../../../../src/feeds/chain/pools/usd-prices.ts";

const USD = { symbol: "USD", address: "0x01", decimals: 18, isStable: true } as const;
const NETWORK: Network = {
  name: "test",
  group: "bsc",
  chainId: 56,
  finalityBlocks: 2,
  rpcUrls: [],
  factories: [
    { name: "Two", form: "v2", address: "0xf2" },
    { name: "Three", form: "v3", address: "0xf3" },
  ],
  quotes: [USD],
};
const POOL = { kind: "created", form: "v2", factory: "0xf2", token0: "0x01", token1: "0xaa" } as const;

function registryOf(): PoolRegistry {
  const registry = new PoolRegistry(NETWORK, new UsdPrices(NETWORK.quotes, 50_000));
  registry.learnToken("0xaa", { address: "0xaa", decimals: 18, symbol: undefined, name: undefined });
  return registry;
}

describe("pools that matter", () => {
  test("are created by a factory of the network, in the form of its pools", () => {
    const registry = registryOf();
    const isGenuine = (factory: string, form: "v2" | "v3" | "bins") =>
      registry.isGenuine({ ...POOL, pool: "0xp", factory, form }, factory);
    expect([isGenuine("0xf2", "v2"), isGenuine("0xf3", "v3")]).toEqual([true, true]);
    expect([isGenuine("0xf2", "v3"), isGenuine("0xf3", "bins"), isGenuine("0xf4", "v2")]).toEqual([
      false,
      false,
      false,
    ]);
  });

  test("have a quote token and a valid token; other pools are looked up once", () => {
    const registry = registryOf();
    registry.learnToken("0xbb", undefined);
    registry.create({ ...POOL, pool: "0xp1" });
    registry.create({ ...POOL, pool: "0xp2", token1: "0xbb" });
    registry.create({ ...POOL, pool: "0xp3", token0: "0xaa" });
    expect(["0xp1", "0xp2", "0xp3"].map((pool) => registry.peek(pool) !== undefined)).toEqual([
      true,
      false,
      false,
    ]);
    expect(["0xp1", "0xp2", "0xp3", "0xp4"].map((pool) => registry.isUnknown(pool))).toEqual([
      false,
      false,
      false,
      true,
    ]);
    expect(registry.unknownTokens("0x01", "0xbb")).toEqual([]);
    expect(registry.unknownTokens("0x01", "0xcc")).toEqual(["0xcc"]);
    expect(registry.unknownTokens("0xcc", "0xdd")).toEqual([]);
  });

  test("are at most 200,000; the least recently used is forgotten first", () => {
    const registry = registryOf();
    for (let count = 0; count < 200_000; count++) registry.create({ ...POOL, pool: `0xp${count}` });
    expect(registry.find("0xp0")).toBeDefined();
    // peek() does not count as a use.
    expect(registry.peek("0xp1")).toBeDefined();
    registry.create({ ...POOL, pool: "0xnew" });
    const known = ["0xp0", "0xp1", "0xp2", "0xnew"].map((pool) => !registry.isUnknown(pool));
    expect(known).toEqual([true, false, true, true]);
  });
});

describe("pools of singletons", () => {
  test("are reported by their own manager only, and a network has one manager of each form", () => {
    const factories = [{ name: "Four", form: "uniswap-v4", address: "0xf4" }] as const;
    const registry = new PoolRegistry({ ...NETWORK, factories }, new UsdPrices(NETWORK.quotes, 50_000));
    const swap = { kind: "swap", form: "positions", amount0: 1n, amount1: -1n } as const;
    expect(["0xf4", "0xf2"].map((emitter) => registry.isGenuine(swap, emitter))).toEqual([true, false]);
    for (const { factories } of Object.values<Network>(NETWORKS)) {
      const forms = factories.map(({ form }) => form).filter((form) => FORMS[formOf(form)].isSingleton);
      // Pools are stored by id, so two managers must not assign the same one.
      expect(forms.length).toBe(new Set(forms).size);
      expect(forms.length).toBeGreaterThan(0);
    }
  });

  test("of the chain's own coin have the quote token that wraps it", () => {
    const quotes = [USD, { ...USD, address: "0x02", isStable: false, isWrappedCoin: true }];
    const registry = new PoolRegistry({ ...NETWORK, quotes }, new UsdPrices(quotes, 50_000));
    registry.learnToken("0xaa", { address: "0xaa", decimals: 18, symbol: undefined, name: undefined });
    registry.create({ ...POOL, pool: "0xp1", token0: NATIVE_COIN });
    expect(registry.peek("0xp1")?.sides[0]).toEqual({ kind: "quote", quote: quotes[1] });
    const without = registryOf();
    without.create({ ...POOL, pool: "0xp1", token0: NATIVE_COIN });
    expect(without.peek("0xp1")).toBeUndefined();
  });
});
