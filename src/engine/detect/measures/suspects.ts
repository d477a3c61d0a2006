import { decay } from "../../../base/lib/statistics.ts";

/*
 * Signs that the wallets of a crowd are one person's: new wallets buy the same size at equal
 * intervals, or buyers of a launch's first block sell together. What is stored of a token is
 * bounded, however many wallets trade it.
 */

/** Purchases are of the same size if they differ by at most this share. */
const SAME_SIZE = 0.1;
/** A purchase of another size reduces the lead by this, so a third of the new wallets can lead. */
const OTHER_WEIGHT = 0.5;
/** Number of gaps that their mean covers. The lead is at most twice this number. */
const MAX_GAPS = 16;
/** Intervals are equal if their squared coefficient of variation is at most this; at random, 1. */
const EQUAL_VARIATION = 0.08;
/** Shorter intervals say nothing: trades of one block differ by milliseconds only. */
const MIN_GAP_MS = 1_000;
/** Time constant of the lead and its dollars. */
const LEAD_MS = 1_800_000;
/** Trades this soon after the first one are in its block, on chains with blocks of 3 seconds. */
const FIRST_BLOCK_MS = 3_000;
/** Maximum number of wallets of the first block. */
const MAX_FIRST = 64;
/** Time constant within which wallets sell together. */
const TOGETHER_MS = 300_000;

export function createSuspects() {
  return {
    /** The size that leads among the first purchases of new wallets (vote of Boyer and Moore). */
    sizeUsd: 0,
    /** By how many purchases it leads. */
    lead: 0,
    /** Decaying dollars of the purchases of that size, as of `sizeAtMs`. */
    leadUsd: 0,
    /** The last purchase of that size. */
    sizeAtMs: -1,
    /** Mean of the gaps between purchases of that size, and of their squares. */
    gapMs: 0,
    squareGap: 0,
    /** Keys of the wallets that bought in the token's first block. */
    first: [] as number[],
    /** Decaying number of these that sold, and for how many dollars, as of `firstSoldAtMs`. */
    firstSold: 0,
    firstSoldUsd: 0,
    firstSoldAtMs: -1,
  };
}

/** What a token's state stores of them. Plain data. */
export type Suspects = ReturnType<typeof createSuspects>;

/** Notes the purchase of a wallet that neither bought nor sold before, as far as is known. */
export function noteNewBuyer(suspects: Suspects, atMs: number, usd: number): void {
  const { sizeUsd, sizeAtMs } = suspects;
  if (Math.abs(usd - sizeUsd) > SAME_SIZE * sizeUsd || sizeUsd === 0) {
    suspects.lead -= OTHER_WEIGHT;
    if (suspects.lead > 0) return;
    Object.assign(suspects, { sizeUsd: usd, lead: 1, leadUsd: usd, sizeAtMs: atMs, gapMs: 0, squareGap: 0 });
    return;
  }
  const gapMs = atMs - sizeAtMs;
  const learn = 1 / Math.max(1, Math.min(suspects.lead, MAX_GAPS));
  suspects.gapMs += (gapMs - suspects.gapMs) * learn;
  suspects.squareGap += (gapMs * gapMs - suspects.squareGap) * learn;
  const left = decay(gapMs, LEAD_MS);
  suspects.lead = Math.min(suspects.lead * left + 1, 2 * MAX_GAPS);
  suspects.leadUsd = suspects.leadUsd * left + usd;
  suspects.sizeAtMs = atMs;
}

/** Returns the lead of wallets of one size and interval; 0 if they bought less than `leastUsd`. */
export function equalBuyers(suspects: Suspects, atMs: number, leastUsd: number): number {
  const { lead, leadUsd, sizeAtMs, gapMs, squareGap } = suspects;
  const isRegular = gapMs >= MIN_GAP_MS && squareGap <= (1 + EQUAL_VARIATION) * gapMs * gapMs;
  const left = decay(Math.max(0, atMs - sizeAtMs), LEAD_MS);
  return isRegular && leadUsd * left >= leastUsd ? lead * left : 0;
}

/** Notes a purchase `sinceFirstMs` after the token's first trade. */
export function noteFirstBlock({ first }: Suspects, wallet: number, sinceFirstMs: number): void {
  if (sinceFirstMs >= FIRST_BLOCK_MS || first.length >= MAX_FIRST || first.includes(wallet)) return;
  first.push(wallet);
}

/** Notes a sale. Only a wallet's first one counts as another seller. */
export function noteSale(suspects: Suspects, wallet: number, isFirst: boolean, atMs: number, usd: number) {
  if (!suspects.first.includes(wallet)) return;
  const left = decay(Math.max(0, atMs - suspects.firstSoldAtMs), TOGETHER_MS);
  suspects.firstSold = suspects.firstSold * left + (isFirst ? 1 : 0);
  suspects.firstSoldUsd = suspects.firstSoldUsd * left + usd;
  suspects.firstSoldAtMs = atMs;
}

/** Returns how many of the first block sold within minutes; 0 if they sold less than `leastUsd`. */
export function firstSellers(suspects: Suspects, atMs: number, leastUsd: number): number {
  const left = decay(Math.max(0, atMs - suspects.firstSoldAtMs), TOGETHER_MS);
  return suspects.firstSoldUsd * left >= leastUsd ? suspects.firstSold * left : 0;
}
