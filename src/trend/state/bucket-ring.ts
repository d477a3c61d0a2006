/*
 * The recent past of one token in equal steps of time: the last price and the trades of each. Reading and writing fill the
 * steps in which nothing happened, so a silent token costs nothing until it is looked at.
 */

/** Steps are numbered from 1970: a step's number is its start divided by its length. Empty while `last` is -1. */
export interface BucketRing {
  readonly closes: Float64Array;
  readonly buys: Uint32Array;
  readonly sells: Uint32Array;
  /** Number of the newest step held; -1 before the first. */
  last: number;
  /** Number of the first step ever held. */
  first: number;
}

/** An empty ring that remembers `capacity` steps. */
export function createRing(capacity: number): BucketRing {
  return {
    closes: new Float64Array(capacity),
    buys: new Uint32Array(capacity),
    sells: new Uint32Array(capacity),
    last: -1,
    first: -1,
  };
}

/** Makes `bucket` the newest step, filling silent ones with the last price and no trades. Does nothing to an empty ring or for an older step. */
export function advanceRing(ring: BucketRing, bucket: number): void {
  if (ring.last < 0 || bucket <= ring.last) return;
  const size = ring.closes.length;
  const price = ring.closes[ring.last % size] ?? 0;
  for (let step = Math.max(ring.last + 1, bucket - size + 1); step <= bucket; step++) {
    const slot = step % size;
    ring.closes[slot] = price;
    ring.buys[slot] = 0;
    ring.sells[slot] = 0;
  }
  ring.last = bucket;
}

/**
 * Records a price, and `buys` and `sells` trades, within a step. A step older than the newest takes only the counts: its
 * close is history. One older than the ring is lost.
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
  advanceRing(ring, bucket);
  if (bucket < oldest(ring)) return;
  const slot = bucket % ring.closes.length;
  if (bucket === ring.last) ring.closes[slot] = price;
  ring.buys[slot] = (ring.buys[slot] ?? 0) + buys;
  ring.sells[slot] = (ring.sells[slot] ?? 0) + sells;
}

/** Multiplies every price that is held. */
export function scaleRing(ring: BucketRing, factor: number): void {
  for (let slot = 0; slot < ring.closes.length; slot++) ring.closes[slot] = (ring.closes[slot] ?? 0) * factor;
}

/** Puts right the close of a step that is held: of a late candle. The flat steps after it are not touched. */
export function amendClose(ring: BucketRing, bucket: number, price: number): void {
  if (ring.last >= 0 && bucket <= ring.last && bucket >= oldest(ring)) {
    ring.closes[bucket % ring.closes.length] = price;
  }
}

/** The last price at the end of a step: that of the newest known before it; of a time before the first, the first's. 0 of an empty ring. */
export function closeAt(ring: BucketRing, bucket: number): number {
  if (ring.last < 0) return 0;
  const known = Math.max(oldest(ring), Math.min(bucket, ring.last));
  return ring.closes[known % ring.closes.length] ?? 0;
}

const ROOM = new Float64Array(1_024);

/** The closes of the steps `from` to `to`, all of them held: from index 0, valid until the next call. */
export function closesWithin(ring: BucketRing, from: number, to: number): Readonly<Float64Array> {
  const { closes } = ring;
  let slot = from % closes.length;
  for (let index = 0; index <= to - from; index++) {
    ROOM[index] = closes[slot] ?? 0;
    slot = slot + 1 === closes.length ? 0 : slot + 1;
  }
  return ROOM;
}

/** Buys of the steps `from` to `to`, both included. */
export function buysWithin(ring: BucketRing, from: number, to: number): number {
  return sumOf(ring, ring.buys, from, to);
}

/** Sells of the steps `from` to `to`, both included. */
export function sellsWithin(ring: BucketRing, from: number, to: number): number {
  return sumOf(ring, ring.sells, from, to);
}

/** How many steps, up to `bucket` and at most `most`, the token has a price for. */
export function knownSteps(ring: BucketRing, bucket: number, most: number): number {
  if (ring.last < 0 || bucket < ring.first) return 0;
  return Math.min(bucket - Math.max(ring.first, oldest(ring)) + 1, most);
}

/** Number of the oldest step still held. */
function oldest(ring: BucketRing): number {
  return Math.max(ring.first, ring.last - ring.closes.length + 1);
}

function sumOf(ring: BucketRing, counts: Uint32Array, from: number, to: number): number {
  if (ring.last < 0) return 0;
  let sum = 0;
  for (let step = Math.max(from, oldest(ring)); step <= Math.min(to, ring.last); step++) {
    sum += counts[step % counts.length] ?? 0;
  }
  return sum;
}
