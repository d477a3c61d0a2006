import * as Abi from "ox/Abi";
import { BoundedMap } from "../../../base/lib/bounded-map.ts";
import { HOUR_MS } from "../../../base/lib/time/time.ts";
import { decodeTransfer } from "../pools/decode.ts";
import type { EvmLog } from "../pools/evm-log.ts";
import type { Inquiry } from "../pools/forms/pool-form.ts";
import { decodeLock } from "./lock-logs.ts";
import { lockersOf } from "./lockers.ts";
import { BURN_ADDRESSES, isNews, LpHolders, type LpShares } from "./lp-holders.ts";

/** Memory bounds. Pairs beyond have unknown holders. */
const MAX_PAIRS = 100_000;
const MAX_IDS = 50_000;
/** A pair is reported again after this time, because the reader may have forgotten it. */
const REPORTED_FOR_MS = 6 * HOUR_MS;

const LP_ABI = Abi.from([
  "function totalSupply() view returns (uint256)",
  "function balanceOf(address) view returns (uint256)",
]);

/** A pair's LP tokens at the end of block `atBlock`, as its contract reports them. */
export interface LpBalances {
  readonly pair: string;
  readonly supply: bigint;
  /** Of the accounts that are asked about; see {@link LockTracker.accounts}. */
  readonly balances: ReadonlyMap<string, bigint>;
  readonly atBlock: number;
}

interface Tracked {
  readonly holders: LpHolders;
  /** Logs up to this block are included. */
  readonly sinceBlock: number;
  reported: LpShares | undefined;
  reportedAtMs: number;
}

/** Follows who holds the LP tokens of V2 pairs, by the logs of the pairs and of the lockers. */
export class LockTracker {
  /** The accounts whose LP tokens cannot be withdrawn now. */
  readonly accounts: readonly string[];
  readonly #lockers: ReadonlySet<string>;
  readonly #pairs = new BoundedMap<string, Tracked>(MAX_PAIRS);
  /** The pairs of locks, by locker and id. */
  readonly #ids = new BoundedMap<string, string>(MAX_IDS);
  #touched = new Set<string>();

  /** @param chain Its name, as in the table of lockers. */
  constructor(chain: string) {
    this.#lockers = lockersOf(chain);
    this.accounts = [...BURN_ADDRESSES, ...this.#lockers];
  }

  /** Whether the contract may say something about locks. */
  isLocker(address: string): boolean {
    return this.#lockers.has(address);
  }

  /** Follows a pair from its creation on. */
  create(pair: string): void {
    if (!this.#pairs.has(pair)) this.#add(pair, new LpHolders(pair, this.#lockers), -1);
  }

  /** Follows a pair that was created earlier. The terms of its locks are unknown. */
  learn({ pair, supply, balances, atBlock }: LpBalances): void {
    const holders = new LpHolders(pair, this.#lockers);
    holders.learn(supply, (account) => balances.get(account) ?? 0n);
    this.#add(pair, holders, atBlock);
  }

  /** Takes over the terms that a tracker of earlier blocks has seen. */
  adopt(earlier: LockTracker): void {
    for (const [pair, { holders }] of this.#pairs) {
      const other = earlier.#pairs.get(pair);
      if (!other) continue;
      holders.adopt(other.holders);
      this.#touched.add(pair);
    }
    for (const [id, pair] of earlier.#ids) if (!this.#ids.has(id)) this.#ids.set(id, pair);
  }

  /** Notes that the pair's liquidity was reported, so that its holders are reported too. */
  touch(pair: string): void {
    this.#touched.add(pair);
  }

  /** Applies the transfers of one transaction, and then what lockers say about them. */
  apply(transfers: readonly EvmLog[], lockerLogs: readonly EvmLog[], block: number, atMs: number): void {
    for (const log of transfers) {
      const tracked = this.#pairs.get(log.address);
      const transfer = tracked && tracked.sinceBlock < block ? decodeTransfer(log) : undefined;
      if (!tracked || !transfer) continue;
      tracked.holders.transfer(transfer, atMs);
      this.#touched.add(log.address);
    }
    for (const log of lockerLogs) this.#applyLock(log, block);
  }

  #applyLock(log: EvmLog, block: number): void {
    const { address: locker } = log;
    const said = decodeLock(log);
    if (!said) return;
    const keyOf = (id: bigint) => `${locker} ${id}`;
    const pair = said.kind === "set" ? said.pair : this.#ids.get(keyOf(said.id));
    const tracked = pair === undefined ? undefined : this.#pairs.get(pair);
    if (pair === undefined || !tracked || tracked.sinceBlock >= block) return;
    if (said.kind === "extended") tracked.holders.extend(locker, said.id, said.untilMs);
    else if (said.kind === "split") {
      tracked.holders.split(locker, said);
      this.#ids.set(keyOf(said.newId), pair);
    } else {
      tracked.holders.lock(locker, said);
      if (said.id !== null) this.#ids.set(keyOf(said.id), pair);
    }
    this.#touched.add(pair);
  }

  /** Returns the shares of touched pairs that changed, or that were not reported for long. */
  news(atMs: number): readonly (LpShares & { readonly pair: string })[] {
    const touched = this.#touched;
    this.#touched = new Set();
    return [...touched].flatMap((pair) => {
      const tracked = this.#pairs.get(pair);
      const shares = tracked?.holders.shares;
      if (!tracked || !shares) return [];
      const isOld = atMs - tracked.reportedAtMs >= REPORTED_FOR_MS;
      if (!isOld && !isNews(tracked.reported, shares)) return [];
      tracked.reported = shares;
      tracked.reportedAtMs = atMs;
      return [{ pair, ...shares }];
    });
  }

  #add(pair: string, holders: LpHolders, sinceBlock: number): void {
    this.#pairs.set(pair, {
      holders,
      sinceBlock,
      reported: undefined,
      reportedAtMs: Number.NEGATIVE_INFINITY,
    });
  }
}

/** Reads the pair's LP tokens at block `atBlock`; `undefined` if one amount cannot be read. */
export function* readLpBalances(
  pair: string,
  accounts: readonly string[],
  atBlock: number,
): Inquiry<LpBalances | undefined> {
  const call = { abi: LP_ABI, address: pair };
  const [supply, ...amounts] = yield [
    { ...call, functionName: "totalSupply" },
    ...accounts.map((account) => ({ ...call, functionName: "balanceOf", args: [account] })),
  ];
  const balances = new Map<string, bigint>();
  for (const [index, account] of accounts.entries()) {
    const amount = amounts[index];
    if (typeof amount === "bigint") balances.set(account, amount);
  }
  if (typeof supply !== "bigint" || balances.size < accounts.length) return undefined;
  return { pair, supply, balances, atBlock };
}
