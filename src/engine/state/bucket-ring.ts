/*
 * Stores a token's recent past in equal time steps: the last price and the number of trades of
 * each. Silent steps are filled only when the ring next advances, so a silent token costs nothing.
 */

export function createRing(capacity: number) {
  return {
    closes: new Float64Array(capacity),
    buys: new Uint32Array(capacity),
    sells: new Uint32Array(capacity),
    /** Number of the newest stored step; -1 before the first. */
    last: -1,
    /** Number of the earliest step ever stored, even if since overwritten; -1 before the first. */
    first: -1,
  };
}

/** Steps are numbered from 1970: start divided by length. The ring is empty while `last` is -1. */
export type BucketRing = ReturnType<typeof createRing>;

/**
 * Makes `bucket` the newest step. It and the skipped ones get the last price and no trades. Does
 * nothing if the ring is empty or `bucket` is not newer.
 */
export function advanceRing(ring: BucketRing, bucket: number): void {
  if (ring.last < 0 || bucket <= ring.last) return;
  const size = ring.closes.length;
  const price = ring.closes[ring.last % size] ?? 0;
  const from = Math.max(ring.last + 1, bucket - size + 1);
  let slot = from % size;
  for (let step = from; step <= bucket; step++) {
    ring.closes[slot] = price;
    ring.buys[slot] = 0;
    ring.sells[slot] = 0;
    slot = slot + 1 === size ? 0 : slot + 1;
  }
  ring.last = bucket;
}

/**
 * Sets a step's price and adds to its counts. In a step before the newest, only the counts change.
 * A step before the oldest stored one is ignored.
 */
export function recordInRing(
  ring: BucketRing,
  bucket: number,
  price: number,
  buys: number,
  sells: number,
): void {
  if (ring.last < 0) {
    ring.last = bucket;
    ring.first = bucket;
  }
  if (bucket > ring.last) advanceRing(ring, bucket);
  else if (bucket < ring.last && bucket < oldest(ring)) return;
  const slot = bucket % ring.closes.length;
  if (bucket === ring.last) ring.closes[slot] = price;
  ring.buys[slot] = (ring.buys[slot] ?? 0) + buys;
  ring.sells[slot] = (ring.sells[slot] ?? 0) + sells;
}

/**
 * Records a past price, which holds from its step to before `until`, and adds the trades of that
 * step. If the step is before the first stored one, all steps between the two are added at this
 * price. A step further back than the ring reaches is ignored. One after the newest is recorded as
 * in {@link recordInRing}.
 */
export function recordPast(
  ring: BucketRing,
  bucket: number,
  until: number,
  price: number,
  buys: number,
  sells: number,
): void {
  const size = ring.closes.length;
  if (ring.last < 0 || bucket > ring.last) {
    recordInRing(ring, bucket, price, buys, sells);
    return;
  }
  if (bucket <= ring.last - size) return;
  for (let step = bucket; step < ring.first; step++) {
    ring.closes[step % size] = price;
    ring.buys[step % size] = 0;
    ring.sells[step % size] = 0;
  }
  ring.first = Math.min(ring.first, bucket);
  for (let step = bucket; step < Math.min(until, ring.last + 1); step++) ring.closes[step % size] = price;
  ring.buys[bucket % size] = (ring.buys[bucket % size] ?? 0) + buys;
  ring.sells[bucket % size] = (ring.sells[bucket % size] ?? 0) + sells;
}

export function scaleRing(ring: BucketRing, factor: number): void {
  for (let slot = 0; slot < ring.closes.length; slot++) ring.closes[slot] = (ring.closes[slot] ?? 0) * factor;
}

/**
 * Returns the price at the end of a step: for a later step than stored the newest, for an earlier
 * one the oldest; 0 if the ring is empty.
 */
export function closeAt(ring: BucketRing, bucket: number): number {
  if (ring.last < 0) return 0;
  const stored = Math.max(oldest(ring), Math.min(bucket, ring.last));
  return ring.closes[stored % ring.closes.length] ?? 0;
}

const SCRATCH = new Float64Array(1_024);

/**
 * Returns an array that starts with the closes from `from` to `to`, inclusive, which must be in the
 * ring. Valid until the next call.
 */
export function closesWithin(ring: BucketRing, from: number, to: number): Readonly<Float64Array> {
  const { closes } = ring;
  let slot = from % closes.length;
  for (let index = 0; index <= to - from; index++) {
    SCRATCH[index] = closes[slot] ?? 0;
    slot = slot + 1 === closes.length ? 0 : slot + 1;
  }
  return SCRATCH;
}

/** Numbers of trades. */
export interface TradeCounts {
  readonly buys: number;
  readonly sells: number;
}

/** Returns the trades of the steps `from` to `to`, inclusive. */
export function tradesWithin(ring: BucketRing, from: number, to: number): TradeCounts {
  let [buys, sells] = [0, 0];
  const last = ring.last < 0 ? -1 : Math.min(to, ring.last);
  for (let step = Math.max(from, oldest(ring)); step <= last; step++) {
    buys += ring.buys[step % ring.buys.length] ?? 0;
    sells += ring.sells[step % ring.sells.length] ?? 0;
  }
  return { buys, sells };
}

/** Returns the number of steps with a price, up to `bucket` and at most `max`. */
export function knownSteps(ring: BucketRing, bucket: number, max: number): number {
  if (ring.last < 0 || bucket < ring.first) return 0;
  return Math.min(bucket - Math.max(ring.first, oldest(ring)) + 1, max);
}

function oldest(ring: BucketRing): number {
  return Math.max(ring.first, ring.last - ring.closes.length + 1);
}
