import { type Abi, type Address, createPublicClient, custom, parseAbi } from "viem";
import type { Factory, Network } from "../network.ts";
import type { PoolFacts, TokenFacts } from "../pools/token.ts";
import type { EndpointPool } from "./endpoint-pool.ts";
import { RpcTrouble, readTrouble } from "./rpc-trouble.ts";

const MAX_SYMBOL = 256;
const MAX_NAME = 1_024;
const MAX_DECIMALS = 77;
/** Bytes of calls that travel in one. */
const BATCH_BYTES = 8_192;
/** The fees for which V3 factories make pools, in hundredths of a basis point. */
const FEES = [100, 500, 2_500, 3_000, 10_000] as const;

const TOKEN_ABI = parseAbi([
  "function decimals() view returns (uint256)",
  "function symbol() view returns (string)",
  "function name() view returns (string)",
  "function balanceOf(address) view returns (uint256)",
]);
/** Tokens from before there was a standard. */
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
  // Of the longer answers of slot0 and globalState the first two words are enough.
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

/** What was said; `undefined` where the contract failed, or said what is not of the promised type. */
type Said = unknown;

/** Asks contracts, many in one request, of which any may fail without harm to the others. Nothing has to be deployed for it. */
export class ContractReader {
  readonly #network: Network;
  readonly #pool: EndpointPool;
  readonly #factories: ReadonlyMap<string, Factory>;

  constructor(network: Network, pool: EndpointPool) {
    this.#network = network;
    this.#pool = pool;
    this.#factories = new Map(network.factories.map((factory) => [factory.address, factory]));
  }

  /** Which of the addresses have code. Rejects with RpcTrouble. */
  async haveCode(addresses: readonly string[], signal: AbortSignal): Promise<ReadonlySet<string>> {
    const codes = await Promise.all(
      addresses.map((address) => this.#pool.ask("eth_getCode", [address, "latest"], signal)),
    );
    return new Set(
      addresses.filter((_, index) => typeof codes[index] === "string" && codes[index].length > 2),
    );
  }

  /** What tokens say of themselves; one without usable decimals is left out. Rejects with RpcTrouble. */
  async tokens(addresses: readonly string[], signal: AbortSignal): Promise<readonly TokenFacts[]> {
    const ask = (abi: Abi, names: readonly string[]) =>
      addresses.map((address) => names.map((functionName) => ({ abi, address, functionName })));
    const said = await this.#callEach(ask(TOKEN_ABI, ["decimals", "symbol", "name"]), signal);
    const isOdd = ([, symbol, name]: readonly Said[] = []) =>
      typeof symbol !== "string" || typeof name !== "string";
    const odd = addresses.filter((_, index) => isOdd(said[index]));
    const oldCalls = ask(OLD_TOKEN_ABI, ["symbol", "name"]).filter((_, index) => isOdd(said[index]));
    const old = await this.#callEach(oldCalls, signal);
    return addresses.flatMap((address, index) => {
      const [decimals, symbol, name] = said[index] ?? [];
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

  /** The pools between two quote tokens that the network's factories have. Rejects with RpcTrouble. */
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
    const said = await this.#call(calls, signal);
    return [...new Set(said.flatMap((pool) => addressOf(pool) ?? []))];
  }

  /**
   * What the addresses are, of those that are pools of the network's factories: a contract may call any factory its own, so the factory is asked. What lies in
   * them is that of the end of block `atBlock`, or, where nobody remembers that, of the end of block `latest`. Rejects with RpcTrouble.
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
    const said = await this.#callEach(calls, signal);
    const claims = addresses.flatMap((address, index) => {
      const [by, token0, token1] = (said[index] ?? []).map(addressOf);
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

  /** Of each pool its state, its balance of either token and, of the V3 forms, its liquidity in range; and the block of whose end that is. */
  async #states(
    pools: readonly { address: string; factory: Factory; token0: string; token1: string }[],
    atBlock: number,
    latest: number,
    signal: AbortSignal,
  ): Promise<{ readonly states: readonly (readonly Said[])[]; readonly countedAtBlock: number }> {
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
   * Calls in groups, all in one request; a group in which one failed is asked again, alone: a contract that eats all gas leaves none to those behind it, and
   * must not keep others from being known.
   */
  async #callEach(
    groups: readonly (readonly Call[])[],
    signal: AbortSignal,
    atBlock?: number,
  ): Promise<readonly (readonly Said[])[]> {
    const said = await this.#call(groups.flat(), signal, atBlock);
    const parts: (readonly Said[])[] = [];
    let taken = 0;
    for (const { length } of groups) {
      parts.push(said.slice(taken, taken + length));
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

  /** One call after the other inside one request. Where that fails as a whole, because one contract eats all gas, the halves are tried. */
  async #call(calls: readonly Call[], signal: AbortSignal, atBlock?: number): Promise<readonly Said[]> {
    if (calls.length === 0) return [];
    const failures: RpcTrouble[] = [];
    const request = async ({ method, params = [] }: { method: string; params?: readonly unknown[] }) => {
      try {
        // What a node no longer remembers is no fault of it.
        return await this.#pool.ask(method, params, signal, atBlock === undefined);
      } catch (error) {
        failures.push(readTrouble(error));
        throw error;
      }
    };
    const client = createPublicClient({ transport: custom({ request }, { retryCount: 0 }) });
    const contracts = calls.map((call) => ({ ...call, address: call.address as Address }));
    const place = atBlock === undefined ? {} : { blockNumber: BigInt(atBlock) };
    const answers = await client.multicall({ contracts, deployless: true, batchSize: BATCH_BYTES, ...place });
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
  [state, first, second, liquidity]: readonly Said[],
): Pick<PoolFacts, "balances" | "range"> {
  if (form === "v2") {
    const [reserve0, reserve1]: readonly unknown[] = Array.isArray(state) ? state : [];
    const isTold = typeof reserve0 === "bigint" && typeof reserve1 === "bigint";
    const balances = isTold ? ([reserve0, reserve1] as const) : undefined;
    return { balances, range: undefined };
  }
  const [sqrtPriceX96, tick]: readonly unknown[] = Array.isArray(state) ? state : [];
  const isTold = typeof first === "bigint" && typeof second === "bigint";
  const isPriced = typeof sqrtPriceX96 === "bigint" && sqrtPriceX96 > 0n && typeof tick === "number";
  return {
    balances: isTold ? [first, second] : undefined,
    range: isPriced && typeof liquidity === "bigint" ? { sqrtPriceX96, tick, liquidity } : undefined,
  };
}

function addressOf(said: Said): string | undefined {
  return typeof said === "string" && /^0x[0-9a-fA-F]{40}$/.test(said) && !/^0x0+$/.test(said)
    ? said.toLowerCase()
    : undefined;
}

/** Text, or 32 bytes of it, without what nobody can read. */
function textOf(said: Said): string | undefined {
  if (typeof said !== "string") return undefined;
  const text = /^0x[0-9a-f]{64}$/.test(said) ? Buffer.from(said.slice(2), "hex").toString("utf8") : said;
  const words = text.replace(/[\p{Cc}\p{Cs}\uFFFD]/gu, "").trim();
  return words === "" ? undefined : words;
}
