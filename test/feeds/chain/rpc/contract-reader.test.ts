import { expect, test } from "vitest";
import { systemClock } from "../../../../src/base/lib/time/clock.ts";
import { ReserveState } from "../../../../src/feeds/chain/pools/forms/reserves.ts";
import { ContractReader } from "../../../../src/feeds/chain/rpc/contract-reader.ts";
import { EndpointPool } from "../../../../src/feeds/chain/rpc/endpoint-pool.ts";
import { FactStore } from "../../../../src/feeds/chain/rpc/fact-store.ts";
import { IS_SOAK } from "../../../support/law-runs.ts";
import { Collector } from "../market/collect.ts";
import { E18, Exchange } from "../market/exchange.ts";
import { Market } from "../market/market.ts";
import { describeOnAnvil } from "../nodes/anvil.ts";
import { FaultyNode } from "../nodes/faulty-node.ts";
import { addressIn, OWNER, wallet } from "../nodes/test-chain.ts";

/** Runs `use` with a reader of a network's contracts. */
async function withReader<T>(
  { network }: Pick<Exchange, "network">,
  use: (reader: ContractReader, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const notify = () => undefined;
  const pool = new EndpointPool({
    urls: network.rpcUrls,
    network,
    clock: systemClock,
    pollEveryMs: 100,
    notify,
  });
  const running = pool.run(over.signal);
  while (pool.finalHead < 0) await pool.changed(100, over.signal);
  try {
    return await use(
      new ContractReader({
        network,
        pool,
        facts: new FactStore(undefined, systemClock, notify),
        clock: systemClock,
        notify,
      }),
      over.signal,
    );
  } finally {
    over.abort();
    await running;
  }
}

describeOnAnvil("unknown contracts", () => {
  test("[metadata] bytes32 texts, empty texts, reverts, used-up gas, missing contracts and absurd decimals affect no other token", async () => {
    const exchange = await Exchange.open();
    await using chain = exchange.chain;
    const plain = await exchange.token("Plain Token", "PLAIN", { decimals: 6 });
    const odd = await exchange.token(`Two\u0000 lines\n${"x".repeat(1_014)}🔥${"x".repeat(1_000)}`, "   ");
    const old = await chain.deploy("oldToken");
    const mute = await chain.deploy("muteToken");
    const eater = await chain.deploy("gasEater");
    const none = await chain.deploy("noToken");
    const eaters = [eater];
    for (let more = IS_SOAK ? 2 : 0; more > 0; more--) eaters.push(await chain.deploy("gasEater"));
    // A call may use a block's whole gas. This limit is what real nodes allow.
    await chain.ask("evm_setBlockGasLimit", ["0x2faf080"]);
    await chain.mine();
    const addresses = [...eaters, plain, none, old, wallet(9), mute, odd];
    const found = await withReader(exchange, (reader, signal) => reader.tokens(addresses, signal));
    expect(found).toEqual([
      ...eaters.map((address) => ({ address, decimals: 18, symbol: undefined, name: undefined })),
      { address: plain, decimals: 6, symbol: "PLAIN", name: "Plain Token" },
      { address: old, decimals: 9, symbol: "OLD", name: "Old Maker" },
      { address: mute, decimals: 6, symbol: undefined, name: undefined },
      { address: odd, decimals: 18, symbol: undefined, name: `Two lines${"x".repeat(1_014)}` },
    ]);
  });

  test("[calls] many contracts are read with one request, even if some are not tokens", async () => {
    const exchange = await Exchange.open();
    await using chain = exchange.chain;
    const plain = await exchange.token("Plain Token", "PLAIN");
    const none = await chain.deploy("noToken");
    const odd = [await chain.deploy("oldToken"), await chain.deploy("muteToken")];
    await using node = await new FaultyNode(chain.url).start();
    const network = { ...exchange.network, rpcUrls: [node.url] };
    const addresses = [none, wallet(9), ...odd, plain];
    const found = await withReader({ network }, (reader, signal) => reader.tokens(addresses, signal));
    expect(found.map(({ address }) => address)).toEqual([...odd, plain]);
    expect(node.asked.get("eth_call")).toBe(1);
  });

  test("[calls] the pools between eight quote tokens are found with two requests", async () => {
    const exchange = await Exchange.open();
    await using chain = exchange.chain;
    await using node = await new FaultyNode(chain.url).start();
    const { quotes } = exchange.network;
    const more = [1, 2, 3, 4, 5, 6].map((number) => {
      return { symbol: `Q${number}`, decimals: 18, isStable: false, address: wallet(number) };
    });
    const network = { ...exchange.network, rpcUrls: [node.url], quotes: [...quotes, ...more] };
    const found = await withReader({ network }, (reader, signal) => reader.anchors(signal));
    expect(found.map(({ pool }) => pool)).toEqual([await exchange.pairOf(exchange.coin, exchange.usd)]);
    expect(node.asked.get("eth_call")).toBe(2);
  });

  test("[calls] pools of V2 and V3 are identified with two requests", async () => {
    const exchange = await Exchange.open();
    const { chain, coin, usd, v3Factory } = exchange;
    await using _chain = chain;
    await chain.send(OWNER, v3Factory, "v3Factory", "createPool", [coin, usd, 3_000]);
    await chain.mine();
    const ranges = addressIn(await chain.read(v3Factory, "v3Factory", "getPool", [coin, usd, 3_000]));
    const reserves = await exchange.pairOf(coin, usd);
    await using node = await new FaultyNode(chain.url).start();
    const network = { ...exchange.network, rpcUrls: [node.url] };
    const unknown = [
      { pool: ranges, form: "v3", emitter: ranges },
      { pool: reserves, form: "v2", emitter: reserves },
    ] as const;
    const found = await withReader({ network }, (reader, signal) => reader.identify(unknown, signal));
    expect(found.map(({ pool }) => pool)).toEqual([ranges, reserves]);
    expect(node.asked.get("eth_call")).toBe(2);
  });

  test("[genuine] an existing pool is confirmed by its factory; a pool that falsely claims the factory is not", async () => {
    await using market = await Market.open();
    const { exchange, token } = market;
    const { chain, coin, v2Factory } = exchange;
    const other = await chain.deploy("v2Factory", [OWNER]);
    await chain.send(OWNER, other, "v2Factory", "createPair", [token, coin]);
    await chain.mine();
    const forged = addressIn(await chain.read(other, "v2Factory", "getPair", [token, coin]));
    // The sixth word of a pair's storage is its factory.
    await chain.ask("anvil_setStorageAt", [forged, "0x5", `0x${v2Factory.slice(2).padStart(64, "0")}`]);
    await chain.mine();
    const genuine = await exchange.pairOf(token, coin);
    const unknown = [forged, genuine, wallet(3), token, other].map((pool) => ({
      pool,
      form: "v2" as const,
      emitter: pool,
    }));
    // No node has the state at `atBlock`, so that of `latest` is read.
    const latest = Number(await chain.ask<string>("eth_blockNumber"));
    const blocks = { atBlock: latest + 1_000, latest };
    const found = await withReader(exchange, async (reader, signal) =>
      reader.readStates(await reader.identify(unknown, signal), blocks, signal),
    );
    const [token0, token1] = BigInt(token) < BigInt(coin) ? [token, coin] : [coin, token];
    const [coins, tokens] = [100n * E18, 1_000_000n * E18];
    const [first, second] = token0 === coin ? ([coins, tokens] as const) : ([tokens, coins] as const);
    expect(found).toEqual([
      {
        pool: genuine,
        form: "v2",
        factory: v2Factory,
        token0,
        token1,
        state: new ReserveState([first, second]),
      },
    ]);
    // toEqual() does not compare private fields.
    expect(found[0]?.state.depth(0)).toBe(first);
    expect(found[0]?.state.depth(1)).toBe(second);
  });

  test("[listing] a pool with liquidity from before the start is not listed; its trades are published", async () => {
    await using market = await Market.open();
    const { network, chain } = market.exchange;
    await market.trade();
    await market.settle();
    await chain.mine(120);
    const before = market.events.length;
    const resumeAfterMs = market.untilMs;
    await market.trade();
    await market.trade();
    await using collector = new Collector({ network, resumeAfterMs });
    await collector.reached(await market.settle());
    const [profile, ...others] = collector.facts;
    expect(profile).toMatchObject({ kind: "profile", symbol: "ALPHA" });
    expect(others).toEqual(market.events.slice(before));
    expect(others.map(({ kind }) => kind)).toEqual(["liquidity", "trade", "liquidity", "trade"]);
  });
});
