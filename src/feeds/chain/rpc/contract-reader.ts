import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import * as Abi from "ox/Abi";
import { z } from "zod";
import { BoundedMap } from "../../../base/lib/bounded-map.ts";
import type { Notify } from "../../../base/lib/notify.ts";
import type { Clock } from "../../../base/lib/time/clock.ts";
import { waitAtMost } from "../../../base/lib/time/wait-at-most.ts";
import { type LpBalances, readLpBalances } from "../locks/lock-tracker.ts";
import { type Factory, type Network, quotesByAddress } from "../network.ts";
import { FORMS, formOf } from "../pools/forms/forms.ts";
import type { Inquiry, PoolFacts, PoolIdentity, Result, UnknownPool } from "../pools/forms/pool-form.ts";
import type { TokenFacts } from "../pools/pool.ts";
import type { Endpoint } from "./endpoint.ts";
import type { EndpointPool } from "./endpoint-pool.ts";
import type { FactStore } from "./fact-store.ts";
import { CONFIRM_MS } from "./hedges.ts";
import { Multicall } from "./multicall.ts";
import { RpcFailure } from "./rpc-failure.ts";

const MAX_SYMBOL = 256;
const MAX_NAME = 1_024;
const MAX_DECIMALS = 77;
const TOKEN_ABI = Abi.from([
  "function decimals() view returns (uint256)",
  "function symbol() view returns (string)",
  "function name() view returns (string)",
]);
/** Tokens from before the standard return their texts as bytes32. */
const OLD_TOKEN_ABI = Abi.from([
  "function symbol() view returns (bytes32)",
  "function name() view returns (bytes32)",
]);

const StoredToken = z.object({
  decimals: z.int().min(0).max(MAX_DECIMALS),
  symbol: z.string().optional(),
  name: z.string().optional(),
});
const StoredPool = z.object({
  factory: z.string(),
  token0: z.string(),
  token1: z.string(),
  step: z.number().optional(),
  curve: z
    .union([
      z.object({ virtualFunds: z.coerce.bigint(), invariant: z.coerce.bigint() }),
      z.object({ scaler: z.coerce.bigint(), quadratic: z.coerce.bigint(), linear: z.coerce.bigint() }),
    ])
    .optional(),
});

interface ContractReaderOptions {
  readonly network: Network;
  readonly pool: EndpointPool;
  /** Facts that never change are requested only if they are not stored there. */
  readonly facts: FactStore;
  readonly clock: Clock;
  readonly notify: Notify;
}

/** The block to read, and a later one to read instead if nodes have pruned that state. */
interface StateBlocks {
  readonly atBlock: number;
  readonly latest: number;
}

interface Fact<F> {
  readonly value: F | undefined;
  /** Whether it may be stored: two hosts returned it, or one host is enough. */
  readonly isConfirmed: boolean;
  /** Whether two hosts returned different values, and no third one has decided. */
  readonly isDisputed?: boolean;
}

/** Contracts about which two hosts differ, and the decisions of a third host. */
interface Dispute {
  /** Names of the two hosts, as in `A and B`. */
  readonly hosts: string;
  /** Number of contracts that the hosts were asked about. */
  readonly count: number;
  /** A clause that says what the third host did; `undefined` without a third host. */
  readonly verdict: string | undefined;
  /** Names of the contracts that stay undecided. */
  readonly open: readonly string[];
  /** Names of the contracts that the third host decided. */
  readonly settled: readonly string[];
}

/** Maximum number of facts in memory that only one endpoint returned. */
const MAX_UNCONFIRMED = 20_000;
/** Maximum number of contracts in memory whose dispute has been reported. */
const MAX_REPORTED = 20_000;
/** Maximum number of contracts that a report names. */
const MAX_NAMED = 5;

/** Reads the facts of tokens and pools from their contracts, many in one request. */
export class ContractReader {
  readonly #options: ContractReaderOptions;
  readonly #calls: Multicall;
  readonly #unconfirmed = new BoundedMap<string, unknown>(MAX_UNCONFIRMED);
  /** Names of contracts reported as undecided. */
  readonly #reported = new BoundedMap<string, true>(MAX_REPORTED);
  readonly #factories: ReadonlyMap<string, Factory>;
  /**
   * Part of the key of stored pools, so that a change of the configured factories invalidates them.
   */
  readonly #scope: string;

  constructor(options: ContractReaderOptions) {
    const { network, pool } = options;
    this.#options = options;
    this.#calls = new Multicall(pool);
    this.#scope = createHash("sha256").update(JSON.stringify(network.factories)).digest("hex").slice(0, 16);
    this.#factories = new Map(network.factories.map((factory) => [factory.address, factory]));
  }

  /**
   * Returns the addresses that have code at any usable endpoint. One endpoint is not enough to tell
   * that there is none, because it may be behind. Rejects with RpcFailure.
   */
  async haveCode(addresses: readonly string[], signal: AbortSignal): Promise<ReadonlySet<string>> {
    const keyOf = (address: string) => `code ${address}`;
    const isCode = (code: unknown) => typeof code === "string" && code.length > 2;
    const isPresent = async (address: string) => {
      const request = ["eth_getCode", [address, "latest"], signal] as const;
      if (isCode(await this.#options.pool.ask(...request))) return true;
      const others = this.#options.pool.usable(-1).map((one) => one.ask(...request).catch(() => undefined));
      return (await Promise.all(others)).some(isCode) || undefined;
    };
    // A single host's response may be stored. If it falsely reports code, only the report of the
    // missing contract is lost, because calls to that address return no results at other hosts.
    const find = async (address: string) => ({ value: await isPresent(address), isConfirmed: true });
    const present = await this.#remember(addresses, keyOf, z.boolean(), (missing) =>
      Promise.all(missing.map(find)),
    );
    signal.throwIfAborted();
    return new Set(addresses.filter((_, index) => present[index]));
  }

  /**
   * Returns the tokens' facts. Omits tokens whose decimals are missing or invalid, and those that
   * hosts disagree about. Rejects with RpcFailure.
   */
  async tokens(addresses: readonly string[], signal: AbortSignal): Promise<readonly TokenFacts[]> {
    const keyOf = (address: string) => `token ${address}`;
    const facts = await this.#remember(addresses, keyOf, StoredToken, (missing) =>
      this.#inquireFacts(missing, keyOf, tokenFacts, signal),
    );
    return facts.flatMap((fact, index) => {
      const address = addresses[index];
      if (!fact || address === undefined) return [];
      return [{ address, decimals: fact.decimals, symbol: fact.symbol, name: fact.name }];
    });
  }

  /** Returns whether hosts disagreed about that token or pool, and have not agreed since. */
  isUndecided(kind: "token" | "pool", address: string): boolean {
    return this.#reported.has(`${kind} ${address}`);
  }

  /**
   * Returns the pools between two quote tokens that the network's factories list. Omits pools in
   * singletons, which cannot be listed by their tokens. Rejects with RpcFailure.
   */
  async anchors(signal: AbortSignal): Promise<readonly UnknownPool[]> {
    const { quotes, factories } = this.#options.network;
    const pairs = quotes.flatMap((first, index) => quotes.slice(index + 1).map((second) => [first, second]));
    const searches = pairs.flatMap(([first, second]) =>
      factories.map((factory) => findPools(factory, first?.address ?? "", second?.address ?? "")),
    );
    const found = (await this.#calls.inquire(searches, signal)).flat();
    return [...new Map(found.map((pool) => [pool.pool, pool])).values()];
  }

  /**
   * Returns those pools that belong to the network's factories and have a quote token. Omits pools
   * that hosts disagree about. Rejects with RpcFailure.
   */
  async identify(pools: readonly UnknownPool[], signal: AbortSignal): Promise<readonly PoolIdentity[]> {
    const keyOf = ({ form, emitter, pool }: UnknownPool) => `pool ${this.#scope} ${form} ${emitter} ${pool}`;
    const facts = await this.#remember(pools, keyOf, StoredPool, (missing) =>
      this.#inquireFacts(
        missing,
        ({ pool }) => `pool ${pool}`,
        (pool) => FORMS[pool.form].identify(pool, this.#factories),
        signal,
      ),
    );
    const genuine = pools.flatMap(({ pool, form }, index): PoolIdentity[] => {
      const fact = facts[index];
      if (!fact) return [];
      const { step, curve, ...identity } = fact;
      const shape = { ...(step === undefined ? {} : { step }), ...(curve === undefined ? {} : { curve }) };
      return [{ pool, form, ...identity, ...shape }];
    });
    const quotes = quotesByAddress(this.#options.network);
    return genuine.filter(({ token0, token1 }) => quotes.has(token0) || quotes.has(token1));
  }

  /**
   * Returns the pools with their states at the end of block `atBlock` or, if these cannot be read,
   * of block `latest`. Rejects with RpcFailure.
   */
  async readStates(
    pools: readonly PoolIdentity[],
    blocks: StateBlocks,
    signal: AbortSignal,
  ): Promise<readonly PoolFacts[]> {
    return this.#readAt(blocks, signal, (atBlock) =>
      pools.flatMap((pool) => {
        const factory = this.#factories.get(pool.factory);
        return factory ? [withState(pool, factory, atBlock)] : [];
      }),
    );
  }

  /**
   * Returns the LP tokens of V2 pairs that those accounts hold, at the same block as
   * {@link readStates}. Omits pairs that do not say. Rejects with RpcFailure.
   */
  async lpBalances(
    pairs: readonly string[],
    accounts: readonly string[],
    blocks: StateBlocks,
    signal: AbortSignal,
  ): Promise<readonly LpBalances[]> {
    const read = await this.#readAt(blocks, signal, (atBlock) =>
      pairs.map((pair) => readLpBalances(pair, accounts, atBlock)),
    );
    return read.filter((balances) => balances !== undefined);
  }

  async #readAt<T>(
    { atBlock, latest }: StateBlocks,
    signal: AbortSignal,
    inquiriesAt: (block: number) => readonly Inquiry<T>[],
  ): Promise<readonly T[]> {
    try {
      return await this.#calls.inquire(inquiriesAt(atBlock), signal, atBlock);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof RpcFailure) || latest === atBlock) throw error;
      return this.#readAt({ atBlock: latest, latest }, signal, inquiriesAt);
    }
  }

  /**
   * Asks two hosts at the same time, and a third where they differ. If hosts return different
   * values and no two agree, the value is `undefined`. If only one host responds or has a value,
   * that value is unconfirmed. So is the value from any endpoint, which is asked if neither host
   * responds in time or there is only one. Logs which contracts they differ about. Rejects with
   * RpcFailure.
   */
  async #inquireFacts<T, F>(
    items: readonly T[],
    nameOf: (item: T) => string,
    inquire: (item: T) => Inquiry<F | undefined>,
    signal: AbortSignal,
  ): Promise<readonly Fact<F>[]> {
    const [one, two, three] = this.#options.pool.hosts;
    const inquireAt = (endpoint: Endpoint, some: readonly T[]) =>
      this.#inquireAt(endpoint, some.map(inquire), signal);
    const wait = (answers: ReturnType<typeof inquireAt>) =>
      waitAtMost(answers, CONFIRM_MS, this.#options.clock, signal);
    const asked = one && two ? [inquireAt(one, items), inquireAt(two, items)] : [];
    if (asked.length > 0) await Promise.race(asked);
    const [first, second] = await Promise.all(asked.map(wait));
    if (!one || !two || !first || !second) {
      const values = first ?? second ?? (await this.#calls.inquire(items.map(inquire), signal));
      return values.map((value) => ({ value, isConfirmed: false }));
    }
    const facts = items.map((_, index) => agree([first[index], second[index]]));
    const disputed = items.filter((_, index) => facts[index]?.isDisputed);
    const third = three && disputed.length > 0 ? await wait(inquireAt(three, disputed)) : undefined;
    const decided = items.map((item, index) => {
      const fact = facts[index] ?? agree([]);
      if (!fact.isDisputed) return fact;
      const decision = third?.[disputed.indexOf(item)];
      const votes = [first[index], second[index]].filter((vote) => isDeepStrictEqual(vote, decision));
      return votes.length > 0 ? { value: decision, isConfirmed: true } : fact;
    });
    const open = items.filter((_, index) => decided[index]?.isDisputed);
    const settled = disputed.filter((item) => !open.includes(item));
    // A value that only one host has does not end a dispute, because the other may be behind.
    const confirmed = items.filter((_, index) => decided[index]?.isConfirmed);
    if (this.#reported.size > 0) for (const item of confirmed) this.#reported.delete(nameOf(item));
    const verdict =
      three && `${three.name} ${third ? `decides ${settled.length} of them` : "does not respond"}`;
    const dispute = { hosts: `${one.name} and ${two.name}`, count: items.length, verdict };
    this.#report({ ...dispute, open: open.map(nameOf), settled: settled.map(nameOf) });
    return decided;
  }

  /** Reports the contracts that hosts differ about. Reports an undecided one only once. */
  #report({ hosts, count, verdict, open, settled }: Dispute): void {
    const unreported = open.filter((name) => !this.#reported.has(name));
    for (const name of open) this.#reported.set(name, true);
    const contracts = [...unreported, ...settled];
    if (contracts.length === 0) return;
    const words = [
      `${hosts} differ about ${contracts.length} of ${count} contracts`,
      ...(verdict === undefined ? [] : [verdict]),
      ...(unreported.length === 0 ? [] : [`ignoring ${unreported.length}`]),
    ];
    this.#options.notify("warn", words.join("; "), { contracts: contracts.slice(0, MAX_NAMED) });
  }

  /** Asks one endpoint. Returns `undefined` if it fails, and counts that against it. */
  async #inquireAt<F>(
    endpoint: Endpoint,
    inquiries: readonly Inquiry<F>[],
    signal: AbortSignal,
  ): Promise<readonly F[] | undefined> {
    try {
      return await new Multicall(endpoint).inquire(inquiries, signal);
    } catch (error) {
      if (error instanceof RpcFailure && error.kind === "failed") endpoint.markFailure();
      return undefined;
    }
  }

  /**
   * Returns each item's fact, `undefined` if there is none, and requests unknown ones. Stores
   * confirmed facts, and a limited number of unconfirmed ones in memory. Does not remember that a
   * fact is missing, because the endpoint may be at fault.
   */
  async #remember<T, F>(
    items: readonly T[],
    keyOf: (item: T) => string,
    schema: z.ZodType<F>,
    ask: (missing: readonly T[]) => Promise<readonly Fact<F>[]>,
  ): Promise<readonly (F | undefined)[]> {
    const facts = new Map<string, F>();
    for (const key of items.map(keyOf)) {
      const stored = schema.safeParse(this.#unconfirmed.get(key) ?? this.#options.facts.get(key));
      if (stored.success) facts.set(key, stored.data);
    }
    const missing = items.filter((item) => !facts.has(keyOf(item)));
    const answers = missing.length === 0 ? [] : await ask(missing);
    const confirmed = new Map<string, F>();
    for (const [index, item] of missing.entries()) {
      const { value, isConfirmed } = answers[index] ?? {};
      if (value === undefined) continue;
      facts.set(keyOf(item), value);
      if (isConfirmed) confirmed.set(keyOf(item), value);
      else this.#unconfirmed.set(keyOf(item), value);
    }
    this.#options.facts.set(confirmed);
    return items.map((item) => facts.get(keyOf(item)));
  }
}

/**
 * Compares two answers. If only one host has a value, that value counts, unconfirmed, because the
 * other host may be behind.
 */
function agree<F>([one, other]: readonly (F | undefined)[]): Fact<F> {
  if (one === undefined || other === undefined) return { value: one ?? other, isConfirmed: false };
  const isConfirmed = isDeepStrictEqual(one, other);
  return { value: isConfirmed ? one : undefined, isConfirmed, isDisputed: !isConfirmed };
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
    symbol: textOf(symbol ?? oldSymbol, MAX_SYMBOL),
    name: textOf(name ?? oldName, MAX_NAME),
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

/**
 * Returns text, or 32 bytes as text, without control characters, lone surrogates and U+FFFD;
 * `undefined` if nothing is left.
 */
function textOf(result: Result, length: number): string | undefined {
  if (typeof result !== "string") return undefined;
  const text = /^0x[0-9a-f]{64}$/.test(result)
    ? Buffer.from(result.slice(2), "hex").toString("utf8")
    : result;
  const words = text.replace(/[\p{Cc}\uFFFD]/gu, "").trim();
  return words.slice(0, length).replace(/\p{Cs}/gu, "") || undefined;
}
