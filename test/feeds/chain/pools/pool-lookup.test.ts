import { expect, test } from "vitest";
import { NETWORKS } from "../../../../src/feeds/chain/networks.ts";
import { PoolLookup } from "../../../../src/feeds/chain/pool-lookup.ts";
import { BlockTranslator } from "../../../../src/feeds/chain/pools/block-translator.ts";
import { FORMS } from "../../../../src/feeds/chain/pools/forms/forms.ts";
import type { PoolIdentity, UnknownPool } from "../../../../src/feeds/chain/pools/forms/pool-form.ts";
import type { PoolCreated, Swap } from "../../../../src/feeds/chain/pools/forms/pool-log.ts";
import type { ContractReader } from "../../../../src/feeds/chain/rpc/contract-reader.ts";
import type { EndpointPool } from "../../../../src/feeds/chain/rpc/endpoint-pool.ts";
import { ManualClock } from "../../../support/time/manual-clock.ts";
import { PacedClock } from "../../../support/time/paced-clock.ts";
import { Collector } from "../market/collect.ts";
import { E18, Exchange } from "../market/exchange.ts";
import { describeOnAnvil } from "../nodes/anvil.ts";
import { FaultyNode } from "../nodes/faulty-node.ts";
import { OWNER, wallet } from "../nodes/test-chain.ts";

const POOLS = 12;

/** Creates a chain with pools that were listed long ago. Each is traded in its own block. */
async function tradedPools() {
  const exchange = await Exchange.open();
  const { chain, coin } = exchange;
  const tokens: string[] = [];
  for (let count = 0; count < POOLS; count++) tokens.push(await exchange.token("Token", `T${count}`));
  for (const token of tokens) await exchange.addV2(token, 1_000_000n * E18, coin, 100n * E18);
  await chain.mine(120);
  const fromMs = chain.nextAt * 1_000;
  for (const token of tokens) {
    await exchange.swapV2(OWNER, E18, [coin, token]);
    await chain.mine();
  }
  const untilMs = chain.nextAt * 1_000;
  return { exchange, chain, fromMs, untilMs };
}

describeOnAnvil("pools that were not seen before", () => {
  test("[requests] those of many blocks are looked up together while the feed catches up", async () => {
    const { exchange, chain, fromMs, untilMs } = await tradedPools();
    await using _chain = chain;
    for (let block = 0; block <= 3; block++) await chain.mine();
    await using node = await new FaultyNode(chain.url).start();
    const { network } = exchange;
    // A slow clock: on a busy machine, blocks still arrive within a short time of each other.
    const clock = new PacedClock(0.1, Date.now());
    await using collector = new Collector({ network, urls: [node.url], resumeAfterMs: fromMs, clock });
    await collector.reached(untilMs);
    expect(collector.facts.filter(({ kind }) => kind === "trade")).toHaveLength(POOLS);
    // Three for the pools of quote tokens, two for identities, the rest for states and tokens.
    expect(node.asked.get("eth_call")).toBeLessThanOrEqual(10);
  });

  test("[pruned] a state of more than 100 blocks ago is not requested, because nodes have pruned it", async () => {
    const { exchange, chain, fromMs, untilMs } = await tradedPools();
    await using _chain = chain;
    for (let block = 0; block <= 130; block++) await chain.mine();
    await using node = await new FaultyNode(chain.url).start();
    node.fault = { kind: "forgets", blocks: 128 };
    const { network } = exchange;
    await using collector = new Collector({ network, urls: [node.url], resumeAfterMs: fromMs });
    await collector.reached(untilMs);
    expect(collector.facts.filter(({ kind }) => kind === "trade")).toHaveLength(POOLS);
    expect(node.askedForgotten).toBe(0);
  });
});

test("[facts] pools and tokens that endpoints disagree about are looked up again after ten minutes, and not those of an invalid token", async () => {
  const [created, other, invalid] = [wallet(1), wallet(2), wallet(3)];
  const [token, badToken] = [wallet(4), wallet(5)];
  const network = NETWORKS.bsc;
  const quote = network.quotes[0]?.address ?? "";
  const factory = network.factories.find(({ form }) => form === "v2")?.address ?? "";
  const asked: string[] = [];
  let isDecided = false;
  const identityOf = ({ pool, form }: UnknownPool): PoolIdentity => ({
    pool,
    form,
    factory,
    token0: quote,
    token1: pool === invalid ? badToken : token,
  });
  const contracts: Pick<ContractReader, "identify" | "lpBalances" | "readStates" | "tokens" | "isUndecided"> =
    {
      identify: async (pools) => {
        asked.push(...pools.map(({ pool }) => pool));
        return pools.filter(({ pool }) => pool !== other || isDecided).map(identityOf);
      },
      readStates: async (pools) =>
        pools.map((pool) => ({
          ...pool,
          state: FORMS.v2.create({ ...pool, kind: "created", form: "v2" }),
        })),
      tokens: async (addresses) => {
        asked.push(...addresses);
        const known = addresses.filter((address) => address === token && isDecided);
        return known.map((address) => ({ address, decimals: 18, symbol: undefined, name: undefined }));
      },
      lpBalances: async () => [],
      isUndecided: (_kind, address) => !isDecided && (address === token || address === other),
    };
  const clock = new ManualClock();
  const translator = new BlockTranslator(network);
  const { signal } = new AbortController();
  const lookup = new PoolLookup({
    translator,
    clock,
    signal,
    persist: (work) => work(),
    contracts: contracts as ContractReader,
    pool: { finalHeads: [1] } as unknown as EndpointPool,
  });
  const learn = async (pool: string, decoded: PoolCreated | Swap) => {
    const log = { address: pool, topics: [], data: "0x", logIndex: 0, transactionHash: "0x", origin: OWNER };
    const block = {
      number: 1,
      atMs: 0,
      logs: [{ log, decoded, pool }],
      transfers: new Map(),
      lockerLogs: new Map(),
    };
    await lookup.learn([block]);
    translator.translate(block);
    return asked.splice(0);
  };
  const swap: Swap = { kind: "swap", form: "v2", amount0: 1n, amount1: -1n };
  const creation = {
    kind: "created",
    form: "v2",
    factory,
    pool: created,
    token0: quote,
    token1: token,
  } as const;
  expect(await learn(created, creation)).toEqual([token]);
  expect(await learn(other, swap)).toEqual([other]);
  expect(await learn(invalid, swap)).toEqual([invalid, badToken]);
  clock.advance(10 * 60_000 - 1);
  for (const pool of [created, other, invalid]) expect(await learn(pool, swap)).toEqual([]);
  clock.advance(1);
  isDecided = true;
  expect(await learn(created, swap)).toEqual([created, token]);
  expect(await learn(other, swap)).toEqual([other]);
  expect(await learn(invalid, swap)).toEqual([]);
  const found = [created, other, invalid].map((pool) => translator.pools.peek(pool) !== undefined);
  expect(found).toEqual([true, true, false]);
});
