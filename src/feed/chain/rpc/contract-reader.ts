import { type Abi, type Address, createPublicClient, custom, parseAbi } from "viem";
import type { Factory, Network } from "../network.ts";
import type { PoolFacts, TokenFacts } from "../pools/token.ts";
import type { EndpointPool } from "./endpoint-pool.ts";
import { RpcTrouble, readTrouble } from "./rpc-trouble.ts";

const MAX_SYMBOL = 256;
const MAX_NAME = 1_024;
const MAX_DECIMALS = 77;
/** Bytes of calls in one request. */
const BATCH_BYTES = 8_192;
/** The fees of V3 pools, in hundredths of a basis point. */
const FEES = [100, 500, 2_500, 3_000, 10_000] as const;

const TOKEN_ABI = parseAbi([
  "function decimals() view returns (uint256)",
  "function symbol() view returns (string)",
  "function name() view returns (string)",
  "function balanceOf(address) view returns (uint256)",
]);
/** Tokens from before the standard return their texts as bytes32. */
const OLD_TOKEN_ABI = parseAbi([
  "function symbol() view returns (bytes32)",
  "function name() view returns (bytes32)",
]);
const POOL_ABI = parseAbi([
  "function factory() view returns (address)",
  "function token0() view returns (address)",
  "function token1() view returns (address)",
  "function fee() view returns (uint24)",
  "function getReserves() view returns (uint112, uint112, uint32)",
  // The first two words of the longer results of slot0 and globalState are enough.
  "function slot0() view returns (uint160, int24)",
  "function globalState() view returns (uint160, int24)",
  "function liquidity() view returns (uint128)",
]);
const FACTORY_ABI = parseAbi([
  "function getPair(address, address) view returns (address)",
  "function getPool(address, address, uint24) view returns (address)",
  "function poolByPair(address, address) view returns (address)",
]);

interface Call {
  readonly abi: Abi;
  readonly address: string;
  readonly functionName: string;
  readonly args?: readonly unknown[];
}

/** A call's result; `undefined` if the contract failed or returned another type. */
type Result = unknown;

/** Calls contracts, many per request and without a helper contract. Each may fail by itself. */
export class ContractReader {
  readonly #network: Network;
  readonly #pool: EndpointPool;
  readonly #factories: ReadonlyMap<string, Factory>;

  constructor(network: Network, pool: EndpointPool) {
    this.#network = network;
    this.#pool = pool;
    this.#factories = new Map(network.factories.map((factory) => [factory.address, factory]));
  }

  /** Returns the addresses that have code. Rejects with RpcTrouble. */
  async haveCode(addresses: readonly string[], signal: AbortSignal): Promise<ReadonlySet<string>> {
    const codes = await Promise.all(
      addresses.map((address) => this.#pool.ask("eth_getCode", [address, "latest"], signal)),
    );
    return new Set(
      addresses.filter((_, index) => typeof codes[index] === "string" && codes[index].length > 2),
    );
  }

  /** Returns the tokens' facts, without tokens of invalid decimals. Rejects with RpcTrouble. */
  async tokens(addresses: readonly string[], signal: AbortSignal): Promise<readonly TokenFacts[]> {
    const ask = (abi: Abi, names: readonly string[]) =>
      addresses.map((address) => names.map((functionName) => ({ abi, address, functionName })));
    const results = await this.#callEach(ask(TOKEN_ABI, ["decimals", "symbol", "name"]), signal);
    const isOdd = ([, symbol, name]: readonly Result[] = []) =>
      typeof symbol !== "string" || typeof name !== "string";
    const odd = addresses.filter((_, index) => isOdd(results[index]));
    const oldCalls = ask(OLD_TOKEN_ABI, ["symbol", "name"]).filter((_, index) => isOdd(results[index]));
    const old = await this.#callEach(oldCalls, signal);
    return addresses.flatMap((address, index) => {
      const [decimals, symbol, name] = results[index] ?? [];
      const [oldSymbol, oldName] = old[odd.indexOf(address)] ?? [];
      if (typeof decimals !== "bigint" || decimals > BigInt(MAX_DECIMALS)) return [];
      return [
        {
          address,
          decimals: Number(decimals),
          symbol: (textOf(symbol) ?? textOf(oldSymbol))?.slice(0, MAX_SYMBOL),
          name: (textOf(name) ?? textOf(oldName))?.slice(0, MAX_NAME),
        },
      ];
    });
  }

  /** Returns the network's pools between two quote tokens. Rejects with RpcTrouble. */
  async anchors(signal: AbortSignal): Promise<readonly string[]> {
    const { quotes, factories } = this.#network;
    const calls = quotes.flatMap(({ address: first }, index) =>
      quotes
        .slice(index + 1)
        .flatMap(({ address: second }) =>
          factories.flatMap((factory) =>
            (factory.form === "v3" ? FEES : [0]).map((fee) => lookUp(factory, first, second, fee)),
          ),
        ),
    );
    const results = await this.#call(calls, signal);
    return [...new Set(results.flatMap((pool) => addressOf(pool) ?? []))];
  }

  /**
   * Returns facts about those of the addresses that are pools of the network's factories. Any
   * contract can name a factory, so the factory itself is asked. The state is that at the end of
   * block `atBlock` or, if no node has it, of block `latest`. Rejects with RpcTrouble.
   */
  async describe(
    addresses: readonly string[],
    { atBlock, latest }: { readonly atBlock: number; readonly latest: number },
    signal: AbortSignal,
  ): Promise<readonly PoolFacts[]> {
    const fields = ["factory", "token0", "token1"];
    const calls = addresses.map((address) =>
      fields.map((functionName) => ({ abi: POOL_ABI, address, functionName })),
    );
    const results = await this.#callEach(calls, signal);
    const claims = addresses.flatMap((address, index) => {
      const [by, token0, token1] = (results[index] ?? []).map(addressOf);
      const factory = by === undefined ? undefined : this.#factories.get(by);
      if (!factory || token0 === undefined || token1 === undefined) return [];
      const { quotes } = this.#network;
      if (!quotes.some((quote) => quote.address === token0 || quote.address === token1)) return [];
      return [{ address, factory, token0, token1 }];
    });
    const fees = await this.#callEach(
      claims.map(({ address, factory }) =>
        factory.form === "v3" ? [{ abi: POOL_ABI, address, functionName: "fee" }] : [],
      ),
      signal,
    );
    const known = await this.#call(
      claims.map(({ factory, token0, token1 }, index) => {
        const fee = fees[index]?.[0];
        return lookUp(factory, token0, token1, typeof fee === "number" ? fee : 0);
      }),
      signal,
    );
    const genuine = claims.filter(({ address }, index) => addressOf(known[index]) === address);
    const { states, countedAtBlock } = await this.#states(genuine, atBlock, latest, signal);
    return genuine.map(({ address, factory, token0, token1 }, index) => {
      const form = factory.form === "v2" ? "v2" : "v3";
      const state = readState(form, states[index] ?? []);
      return { address, form, token0, token1, countedAtBlock, ...state } as const;
    });
  }

  /**
   * Returns each pool's state, its balance of either token and, for V3 forms, its liquidity in
   * range; and the block to which they belong.
   */
  async #states(
    pools: readonly { address: string; factory: Factory; token0: string; token1: string }[],
    atBlock: number,
    latest: number,
    signal: AbortSignal,
  ): Promise<{ readonly states: readonly (readonly Result[])[]; readonly countedAtBlock: number }> {
    const state = { v2: "getReserves", v3: "slot0", algebra: "globalState" } as const;
    const calls = pools.map(({ address, factory, token0, token1 }) => [
      { abi: POOL_ABI, address, functionName: state[factory.form] },
      { abi: TOKEN_ABI, address: token0, functionName: "balanceOf", args: [address] },
      { abi: TOKEN_ABI, address: token1, functionName: "balanceOf", args: [address] },
      ...(factory.form === "v2" ? [] : [{ abi: POOL_ABI, address, functionName: "liquidity" }]),
    ]);
    try {
      return { states: await this.#callEach(calls, signal, atBlock), countedAtBlock: atBlock };
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof RpcTrouble)) throw error;
      return { states: await this.#callEach(calls, signal, latest), countedAtBlock: latest };
    }
  }

  /**
   * Runs groups of calls in one request, and repeats each group with a failed call by itself: a
   * contract that uses up all gas leaves none to those after it, and must not hide them.
   */
  async #callEach(
    groups: readonly (readonly Call[])[],
    signal: AbortSignal,
    atBlock?: number,
  ): Promise<readonly (readonly Result[])[]> {
    const results = await this.#call(groups.flat(), signal, atBlock);
    const parts: (readonly Result[])[] = [];
    let taken = 0;
    for (const { length } of groups) {
      parts.push(results.slice(taken, taken + length));
      taken += length;
    }
    if (groups.length === 1) return parts;
    return Promise.all(
      groups.map((group, index) => {
        const part = parts[index] ?? [];
        return part.includes(undefined) ? this.#call(group, signal, atBlock) : part;
      }),
    );
  }

  /**
   * Runs calls in one request. If the request as a whole fails because one contract uses up all
   * gas, each half is tried by itself.
   */
  async #call(calls: readonly Call[], signal: AbortSignal, atBlock?: number): Promise<readonly Result[]> {
    if (calls.length === 0) return [];
    const failures: RpcTrouble[] = [];
    const request = async ({ method, params = [] }: { method: string; params?: readonly unknown[] }) => {
      try {
        // A node that has pruned this block is not at fault.
        return await this.#pool.ask(method, params, signal, atBlock === undefined);
      } catch (error) {
        failures.push(readTrouble(error));
        throw error;
      }
    };
    const client = createPublicClient({ transport: custom({ request }, { retryCount: 0 }) });
    const contracts = calls.map((call) => ({ ...call, address: call.address as Address }));
    const height = atBlock === undefined ? {} : { blockNumber: BigInt(atBlock) };
    const answers = await client.multicall({
      contracts,
      deployless: true,
      batchSize: BATCH_BYTES,
      ...height,
    });
    signal.throwIfAborted();
    const [failure] = failures;
    if (!failure) return answers.map((answer) => (answer.status === "success" ? answer.result : undefined));
    if (failure.kind !== "reverted") throw failure;
    if (calls.length === 1) return [undefined];
    const half = Math.ceil(calls.length / 2);
    const parts = [calls.slice(0, half), calls.slice(half)];
    return (await Promise.all(parts.map((part) => this.#call(part, signal, atBlock)))).flat();
  }
}

function lookUp({ address, form }: Factory, first: string, second: string, fee: number): Call {
  const pair = [first, second];
  if (form === "v2") return { abi: FACTORY_ABI, address, functionName: "getPair", args: pair };
  if (form === "algebra") return { abi: FACTORY_ABI, address, functionName: "poolByPair", args: pair };
  return { abi: FACTORY_ABI, address, functionName: "getPool", args: [...pair, fee] };
}

function readState(
  form: "v2" | "v3",
  [state, first, second, liquidity]: readonly Result[],
): Pick<PoolFacts, "balances" | "range"> {
  if (form === "v2") {
    const [reserve0, reserve1]: readonly unknown[] = Array.isArray(state) ? state : [];
    const isComplete = typeof reserve0 === "bigint" && typeof reserve1 === "bigint";
    const balances = isComplete ? ([reserve0, reserve1] as const) : undefined;
    return { balances, range: undefined };
  }
  const [sqrtPriceX96, tick]: readonly unknown[] = Array.isArray(state) ? state : [];
  const isComplete = typeof first === "bigint" && typeof second === "bigint";
  const isPriced = typeof sqrtPriceX96 === "bigint" && sqrtPriceX96 > 0n && typeof tick === "number";
  return {
    balances: isComplete ? [first, second] : undefined,
    range: isPriced && typeof liquidity === "bigint" ? { sqrtPriceX96, tick, liquidity } : undefined,
  };
}

function addressOf(result: Result): string | undefined {
  return typeof result === "string" && /^0x[0-9a-fA-F]{40}$/.test(result) && !/^0x0+$/.test(result)
    ? result.toLowerCase()
    : undefined;
}

/** Returns text, or 32 bytes as text, without unprintable characters. */
function textOf(result: Result): string | undefined {
  if (typeof result !== "string") return undefined;
  const text = /^0x[0-9a-f]{64}$/.test(result)
    ? Buffer.from(result.slice(2), "hex").toString("utf8")
    : result;
  const words = text.replace(/[\p{Cc}\p{Cs}\uFFFD]/gu, "").trim();
  return words === "" ? undefined : words;
}
