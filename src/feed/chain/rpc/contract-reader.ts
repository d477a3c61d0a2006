import { type Abi, type Address, createPublicClient, custom, parseAbi } from "viem";
import type { Factory, Network } from "../network.ts";
import { FORMS, formOf } from "../pools/forms/forms.ts";
import type {
  Call,
  Inquiry,
  PoolFacts,
  PoolIdentity,
  Result,
  UnknownPool,
} from "../pools/forms/pool-form.ts";
import type { TokenFacts } from "../pools/token.ts";
import type { EndpointPool } from "./endpoint-pool.ts";
import { RpcTrouble, readTrouble } from "./rpc-trouble.ts";

const MAX_SYMBOL = 256;
const MAX_NAME = 1_024;
const MAX_DECIMALS = 77;
/** Bytes of calls in one request. */
const BATCH_BYTES = 8_192;
const TOKEN_ABI = parseAbi([
  "function decimals() view returns (uint256)",
  "function symbol() view returns (string)",
  "function name() view returns (string)",
]);
/** Tokens from before the standard return their texts as bytes32. */
const OLD_TOKEN_ABI = parseAbi([
  "function symbol() view returns (bytes32)",
  "function name() view returns (bytes32)",
]);
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
  async anchors(signal: AbortSignal): Promise<readonly UnknownPool[]> {
    const { quotes, factories } = this.#network;
    const pairs = quotes.flatMap((first, index) => quotes.slice(index + 1).map((second) => [first, second]));
    const searches = pairs.flatMap(([first, second]) =>
      factories.map((factory) => findPools(factory, first?.address ?? "", second?.address ?? "")),
    );
    const found = (await this.#inquire(searches, signal)).flat();
    return [...new Map(found.map((pool) => [pool.pool, pool])).values()];
  }

  /**
   * Returns facts about those pools that belong to the network's factories and have a quote token.
   * The state is that at the end of block `atBlock` or, if no node has it, of block `latest`.
   * Rejects with RpcTrouble.
   */
  async describe(
    pools: readonly UnknownPool[],
    { atBlock, latest }: { readonly atBlock: number; readonly latest: number },
    signal: AbortSignal,
  ): Promise<readonly PoolFacts[]> {
    const claims = pools.map(({ pool, form }) => FORMS[form].identify(pool, this.#factories));
    const genuine = (await this.#inquire(claims, signal)).filter((identity) => identity !== undefined);
    const { quotes } = this.#network;
    const relevant = genuine.filter(({ token0, token1 }) =>
      quotes.some(({ address }) => address === token0 || address === token1),
    );
    try {
      return await this.#withStates(relevant, signal, atBlock);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof RpcTrouble)) throw error;
      return this.#withStates(relevant, signal, latest);
    }
  }

  async #withStates(
    pools: readonly PoolIdentity[],
    signal: AbortSignal,
    atBlock: number,
  ): Promise<readonly PoolFacts[]> {
    const inquiries = pools.flatMap((pool) => {
      const factory = this.#factories.get(pool.factory);
      return factory ? [withState(pool, factory, atBlock)] : [];
    });
    return this.#inquire(inquiries, signal, atBlock);
  }

  /** Runs inquiries side by side: each round of all of them is one request. */
  async #inquire<T>(
    inquiries: readonly Inquiry<T>[],
    signal: AbortSignal,
    atBlock?: number,
  ): Promise<readonly T[]> {
    const done = new Map<Inquiry<T>, { readonly value: T }>();
    let asked: { readonly inquiry: Inquiry<T>; readonly calls: readonly Call[] }[] = [];
    const advance = (inquiry: Inquiry<T>, results: readonly Result[]) => {
      const step = inquiry.next(results);
      if (step.done) done.set(inquiry, step);
      else asked.push({ inquiry, calls: step.value });
    };
    for (const inquiry of inquiries) advance(inquiry, []);
    while (asked.length > 0) {
      const round = asked;
      asked = [];
      const results = await this.#callEach(
        round.map(({ calls }) => calls),
        signal,
        atBlock,
      );
      for (const [index, { inquiry }] of round.entries()) advance(inquiry, results[index] ?? []);
    }
    return inquiries.flatMap((inquiry) => {
      const step = done.get(inquiry);
      return step ? [step.value] : [];
    });
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

function* findPools(factory: Factory, first: string, second: string): Inquiry<readonly UnknownPool[]> {
  const form = formOf(factory.form);
  const pools = yield* FORMS[form].find(factory, first, second);
  return pools.map((pool) => ({ pool, form }));
}

function* withState(pool: PoolIdentity, factory: Factory, atBlock: number): Inquiry<PoolFacts> {
  return { ...pool, state: yield* FORMS[pool.form].readState(pool, factory, atBlock) };
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
