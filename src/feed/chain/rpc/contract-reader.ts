import { parseAbi } from "viem";
import { type Factory, type Network, quotesByAddress } from "../network.ts";
import { FORMS, formOf } from "../pools/forms/forms.ts";
import type { Inquiry, PoolFacts, PoolIdentity, Result, UnknownPool } from "../pools/forms/pool-form.ts";
import type { TokenFacts } from "../pools/token.ts";
import type { EndpointPool } from "./endpoint-pool.ts";
import { Multicall } from "./multicall.ts";
import { RpcTrouble } from "./rpc-trouble.ts";

const MAX_SYMBOL = 256;
const MAX_NAME = 1_024;
const MAX_DECIMALS = 77;
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

/** Reads the facts of tokens and pools from their contracts, many in one request. */
export class ContractReader {
  readonly #network: Network;
  readonly #pool: EndpointPool;
  readonly #calls: Multicall;
  readonly #factories: ReadonlyMap<string, Factory>;

  constructor(network: Network, pool: EndpointPool) {
    this.#network = network;
    this.#pool = pool;
    this.#calls = new Multicall(pool);
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
    const facts = await this.#calls.inquire(addresses.map(tokenFacts), signal);
    return facts.filter((token) => token !== undefined);
  }

  /** Returns the network's pools between two quote tokens. Rejects with RpcTrouble. */
  async anchors(signal: AbortSignal): Promise<readonly UnknownPool[]> {
    const { quotes, factories } = this.#network;
    const pairs = quotes.flatMap((first, index) => quotes.slice(index + 1).map((second) => [first, second]));
    const searches = pairs.flatMap(([first, second]) =>
      factories.map((factory) => findPools(factory, first?.address ?? "", second?.address ?? "")),
    );
    const found = (await this.#calls.inquire(searches, signal)).flat();
    return [...new Map(found.map((pool) => [pool.pool, pool])).values()];
  }

  /**
   * Returns those pools that belong to the network's factories and have a quote token. Rejects with
   * RpcTrouble.
   */
  async identify(pools: readonly UnknownPool[], signal: AbortSignal): Promise<readonly PoolIdentity[]> {
    const claims = pools.map((pool) => FORMS[pool.form].identify(pool, this.#factories));
    const genuine = (await this.#calls.inquire(claims, signal)).filter((identity) => identity !== undefined);
    const quotes = quotesByAddress(this.#network);
    return genuine.filter(({ token0, token1 }) => quotes.has(token0) || quotes.has(token1));
  }

  /**
   * Returns the pools with their state at the end of block `atBlock` or, if no node has it, of
   * block `latest`. Rejects with RpcTrouble.
   */
  async readStates(
    pools: readonly PoolIdentity[],
    { atBlock, latest }: { readonly atBlock: number; readonly latest: number },
    signal: AbortSignal,
  ): Promise<readonly PoolFacts[]> {
    const inquiries = pools.flatMap((pool) => {
      const factory = this.#factories.get(pool.factory);
      return factory ? [withState(pool, factory, atBlock)] : [];
    });
    try {
      return await this.#calls.inquire(inquiries, signal, atBlock);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof RpcTrouble) || latest === atBlock) throw error;
      return this.readStates(pools, { atBlock: latest, latest }, signal);
    }
  }
}

function* tokenFacts(address: string): Inquiry<TokenFacts | undefined> {
  const [decimals, symbol, name, oldSymbol, oldName] = yield [
    ...["decimals", "symbol", "name"].map((functionName) => ({ abi: TOKEN_ABI, address, functionName })),
    ...["symbol", "name"].map((functionName) => ({ abi: OLD_TOKEN_ABI, address, functionName })),
  ];
  if (typeof decimals !== "bigint" || decimals > BigInt(MAX_DECIMALS)) return undefined;
  return {
    address,
    decimals: Number(decimals),
    symbol: textOf(symbol ?? oldSymbol)?.slice(0, MAX_SYMBOL),
    name: textOf(name ?? oldName)?.slice(0, MAX_NAME),
  };
}

function* findPools(factory: Factory, first: string, second: string): Inquiry<readonly UnknownPool[]> {
  const form = formOf(factory.form);
  const pools = yield* FORMS[form].find(factory, first, second);
  return pools.map((pool) => ({ pool, form, emitter: pool }));
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
