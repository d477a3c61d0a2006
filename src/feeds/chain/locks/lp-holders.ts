import { LATEST_AT_MS } from "../../../base/market/index.ts";
import type { LockSplit } from "./lock-logs.ts";

/*
 * Who holds a pair's LP tokens, as far as it cannot withdraw liquidity now: nobody, if they are
 * burned, or a locker until a date. All other holders count as free.
 */

export const NOBODY = "0x0000000000000000000000000000000000000000";
/** The addresses from which nobody can send tokens. */
export const BURN_ADDRESSES: ReadonlySet<string> = new Set([
  NOBODY,
  "0x000000000000000000000000000000000000dead",
  "0xdead000000000000000042069420694206942069",
]);

/** The shares of a pair's LP tokens. `until`: the lock's end in event time; `null` if unknown. */
export interface LpShares {
  readonly burned: number;
  readonly held: readonly { readonly share: number; readonly until: number | null }[];
}

/** A transfer of LP tokens. */
interface LpTransfer {
  readonly from: string;
  readonly to: string;
  readonly units: bigint;
}

/** A lock whose term is known. `id` is the locker's; `null` if it has none. */
interface TermedLock {
  readonly id: bigint | null;
  readonly untilMs: number;
  readonly units: bigint;
}

/** What a locker holds. `open`: units without a known term. */
interface Holding {
  open: bigint;
  locks: TermedLock[];
}

/**
 * What a pair mints to nobody with its first liquidity, for ever. Not counted: once everybody else
 * has withdrawn, it would look like liquidity that is burned.
 */
const MINIMUM_UNITS = 1_000n;
const NONE: LpShares = { burned: 0, held: [] };
/** Smaller changes are not reported: fees are minted and paid all the time. */
const MIN_CHANGE = 0.01;
/** Smaller locks are not reported. Anybody can lock dust. */
const MIN_SHARE = 0.001;
/** Terms of further locks at one locker are not stored. */
const MAX_LOCKS = 64;
const SHARE_UNITS = 1_000_000n;

/** The burned and locked units of one pair's LP tokens, updated by its logs. */
export class LpHolders {
  readonly #pair: string;
  readonly #lockers: ReadonlySet<string>;
  #supply = 0n;
  #burned = 0n;
  #isMinted = false;
  readonly #held = new Map<string, Holding>();

  constructor(pair: string, lockers: ReadonlySet<string>) {
    this.#pair = pair;
    this.#lockers = lockers;
  }

  /** Sets the state of a pair that was created earlier. The terms of its locks are unknown. */
  learn(supply: bigint, balanceOf: (address: string) => bigint): void {
    const fixed = min(balanceOf(NOBODY), MINIMUM_UNITS);
    this.#supply = supply - fixed;
    this.#burned = [...BURN_ADDRESSES].reduce((sum, address) => sum + balanceOf(address), -fixed);
    this.#isMinted = supply > 0n;
    for (const locker of this.#lockers) {
      const open = balanceOf(locker);
      if (open > 0n) this.#held.set(locker, { open, locks: [] });
    }
  }

  /**
   * Applies a transfer of LP tokens. The pair burns what it sends to nobody, which reduces the
   * supply; what others send there, or what is minted there, counts in the supply for ever.
   */
  transfer({ from, to, units }: LpTransfer, atMs: number): void {
    const isFirst = from === NOBODY && !this.#isMinted;
    this.#isMinted ||= isFirst;
    if (isFirst && to === NOBODY && units === MINIMUM_UNITS) return;
    if (from === NOBODY) this.#supply += units;
    if (from === this.#pair && to === NOBODY) {
      this.#supply -= units;
      return;
    }
    if (this.#lockers.has(from)) this.#take(this.#holding(from), units, atMs);
    if (this.#lockers.has(to)) this.#holding(to).open += units;
    if (BURN_ADDRESSES.has(to)) this.#burned += units;
  }

  /**
   * A locker reported the term of units that it got, or a new term or amount of lock `id`. Units
   * that it did not get do not count.
   */
  lock(locker: string, { id, untilMs, units }: TermedLock): void {
    const held = this.#holding(locker);
    const before = id === null ? undefined : held.locks.find((lock) => lock.id === id);
    if (before) this.#release(held, before);
    const covered = min(units, held.open);
    if (covered <= 0n) return;
    held.open -= covered;
    held.locks.push({ id, untilMs: Math.min(untilMs, LATEST_AT_MS), units: covered });
    if (held.locks.length <= MAX_LOCKS) return;
    // The smallest loses its term. Dust must not displace the lock that matters.
    const smallest = held.locks.reduce((least, lock) => (lock.units < least.units ? lock : least));
    this.#release(held, smallest);
  }

  /** A locker extended lock `id`. */
  extend(locker: string, id: bigint, untilMs: number): void {
    const lock = this.#held.get(locker)?.locks.find((one) => one.id === id);
    if (lock) this.lock(locker, { ...lock, untilMs });
  }

  /**
   * A locker split lock `id`, which keeps `left`, and put `units` into a new lock that ends no
   * earlier. Ignored if the two do not add up to the lock.
   */
  split(locker: string, { id, left, newId, units }: Omit<LockSplit, "kind">): void {
    const lock = this.#held.get(locker)?.locks.find((one) => one.id === id);
    if (!lock || left + units !== lock.units) return;
    this.lock(locker, { ...lock, units: left });
    this.lock(locker, { ...lock, id: newId, units });
  }

  /** Takes over the terms that another reader of the same pair has seen. */
  adopt(other: LpHolders): void {
    for (const [locker, { locks }] of other.#held) for (const lock of locks) this.lock(locker, lock);
  }

  /** Returns the shares; `undefined` before the first LP tokens. */
  get shares(): LpShares | undefined {
    if (!this.#isMinted) return undefined;
    if (this.#supply <= 0n) return NONE;
    const byTerm = new Map<number | null, bigint>();
    for (const { open, locks } of this.#held.values()) {
      if (open > 0n) byTerm.set(null, (byTerm.get(null) ?? 0n) + open);
      for (const { untilMs, units } of locks) byTerm.set(untilMs, (byTerm.get(untilMs) ?? 0n) + units);
    }
    const held = [...byTerm].map(([until, units]) => ({ share: this.#shareOf(units), until }));
    return {
      burned: this.#shareOf(this.#burned),
      held: held
        .filter(({ share }) => share >= MIN_SHARE)
        .sort((a, b) => (a.until ?? Number.POSITIVE_INFINITY) - (b.until ?? Number.POSITIVE_INFINITY)),
    };
  }

  /** Removes units: first from locks that are over, then those without a known term. */
  #take(held: Holding, units: bigint, atMs: number): void {
    const byTerm = [...held.locks].sort((a, b) => a.untilMs - b.untilMs);
    const isOver = ({ untilMs }: TermedLock) => untilMs <= atMs;
    let left = units;
    const takeFrom = (locks: readonly TermedLock[]) => {
      for (const lock of locks) {
        if (left <= 0n) return;
        const taken = min(left, lock.units);
        left -= taken;
        this.#release(held, lock);
        held.open -= lock.units;
        if (taken < lock.units) held.locks.push({ ...lock, units: lock.units - taken });
      }
    };
    takeFrom(byTerm.filter(isOver));
    const fromOpen = min(left, held.open);
    held.open -= fromOpen;
    left -= fromOpen;
    takeFrom(byTerm.filter((lock) => !isOver(lock)));
  }

  /** Forgets a lock's term. */
  #release(held: Holding, lock: TermedLock): void {
    held.locks = held.locks.filter((one) => one !== lock);
    held.open += lock.units;
  }

  #holding(locker: string): Holding {
    const known = this.#held.get(locker);
    if (known) return known;
    const held: Holding = { open: 0n, locks: [] };
    this.#held.set(locker, held);
    return held;
  }

  #shareOf(units: bigint): number {
    const parts = (units * SHARE_UNITS) / this.#supply;
    return Math.min(1, Number(parts) / Number(SHARE_UNITS));
  }
}

/** Returns whether a share changed by more than a percent, or a term did. */
export function isNews(before: LpShares | undefined, after: LpShares): boolean {
  if (!before || Math.abs(after.burned - before.burned) > MIN_CHANGE) return true;
  const terms = new Set([...before.held, ...after.held].map(({ until }) => until));
  return [...terms].some(
    (until) => Math.abs(shareUntil(after, until) - shareUntil(before, until)) > MIN_CHANGE,
  );
}

function shareUntil({ held }: LpShares, until: number | null): number {
  return held.find((one) => one.until === until)?.share ?? 0;
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
