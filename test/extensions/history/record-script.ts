/*
 * Computes the track record by its definition in src/engine/README.md, from raw prices. It shares
 * no code with the gateway. Only the starts and ends of flares, and their causes, come from the
 * detector.
 */

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const HORIZONS = [5, 15, 60] as const;

/** A traded price, in order of time. A candle's price is dated at its end. */
export interface RawPrice {
  readonly at: number;
  readonly price: number;
}

export interface RawFlare {
  readonly token: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly cause: string;
  readonly score: number;
  readonly liquidity: number | undefined;
  /** Returns for how many milliseconds the canary has been on. */
  readonly canaryAgeMs: (atMs: number) => number;
}

export class RawMarket {
  readonly #prices: ReadonlyMap<string, readonly RawPrice[]>;
  readonly #outages: readonly (readonly [fromMs: number, toMs: number])[];
  readonly #collapses = new Map<RawFlare, number | undefined>();
  /** A candle counts at its end, a trade only after its moment. */
  readonly #isCandle: boolean;

  /** @param heard Times of all trades. */
  constructor(
    prices: ReadonlyMap<string, readonly RawPrice[]>,
    { isCandle, heard }: { readonly isCandle: boolean; readonly heard: readonly number[] },
  ) {
    this.#prices = prices;
    this.#isCandle = isCandle;
    this.#outages = outagesOf(heard);
  }

  /** Returns the last price, if it is at most three minutes old and the market is not silent. */
  known(token: string, atMs: number): number | undefined {
    const last = this.#last(token, atMs);
    const isOut = this.#outages.some(
      ([from, to]) => atMs > from && (this.#isCandle ? atMs < to : atMs <= to),
    );
    return last && atMs - last.at <= 3 * MINUTE && !isOut ? last.price : undefined;
  }

  latest(token: string, atMs: number): number | undefined {
    return this.#last(token, atMs)?.price;
  }

  /**
   * Returns when the flare's price collapsed. Computed once, because a flare is in several rows.
   */
  collapseOf(flare: RawFlare): number | undefined {
    if (!this.#collapses.has(flare)) this.#collapses.set(flare, collapseOf(this, flare));
    return this.#collapses.get(flare);
  }

  change(token: string, fromMs: number, toMs: number): number | undefined {
    const [from, to] = [this.known(token, fromMs), this.known(token, toMs)];
    return from === undefined || to === undefined || !isOneUnit(to / from)
      ? undefined
      : percent(to / from - 1);
  }

  #last(token: string, atMs: number): RawPrice | undefined {
    const all = this.#prices.get(token) ?? [];
    let [low, high] = [0, all.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const at = all[middle]?.at ?? 0;
      if (this.#isCandle ? at <= atMs : at < atMs) low = middle + 1;
      else high = middle;
    }
    return all[low - 1];
  }
}

/** Returns the whole body of the record over a window that ends at `toMs`. */
export function recordByScript(
  market: RawMarket,
  flares: readonly RawFlare[],
  window: "24h" | "7d" | "30d",
  toMs: number,
): unknown {
  const fromMs = toMs - { "24h": 24, "7d": 168, "30d": 720 }[window] * HOUR;
  const finalMs = ({ startMs, endMs }: RawFlare) => Math.max(startMs + HOUR, endMs);
  const counted = flares.filter((flare) => finalMs(flare) > fromMs && finalMs(flare) <= toMs);
  const finals = counted.map(finalMs).sort((a, b) => a - b);
  const time = (ms: number | undefined) => (ms === undefined ? null : new Date(ms).toISOString());
  const ranges = (bounds: readonly number[], of: (flare: RawFlare) => number | undefined) =>
    [...bounds, null].map((to, index) => {
      const from = bounds[index - 1] ?? null;
      const within = counted.filter((flare) => {
        const value = of(flare);
        return value !== undefined && (from === null || value >= from) && (to === null || value < to);
      });
      return { from, to, figures: rowOf(market, within) };
    });
  return {
    window,
    first_at: time(finals[0]),
    last_at: time(finals.at(-1)),
    all: rowOf(market, counted),
    by_group: [{ group: "bsc", figures: rowOf(market, counted) }],
    by_score: ranges([2.5, 3.5], ({ score }) => score),
    by_liquidity: ranges([10_000, 50_000, 250_000], ({ liquidity }) => liquidity),
  };
}

function rowOf(market: RawMarket, flares: readonly RawFlare[]) {
  const collapses = flares.flatMap((flare) => {
    const atMs = market.collapseOf(flare);
    return atMs === undefined ? [] : [Math.floor(flare.canaryAgeMs(atMs) / 1_000)];
  });
  const byCanary = flares.filter(({ cause }) => cause === "canary").length;
  const { n: _, rose: __, ...warning_s } = quartiles(collapses);
  return {
    flares: flares.length,
    ended_by_canary: byCanary,
    canary_share: flares.length === 0 ? null : round(byCanary / flares.length),
    collapsed: collapses.length,
    warned: collapses.filter((seconds) => seconds > 0).length,
    warning_s,
    after: HORIZONS.map((minutes) => ({
      minutes,
      ...changesOf(market, flares, minutes),
      control: quartiles(
        flares.flatMap(({ token, startMs }) =>
          controlMoments(token, startMs).flatMap(
            (atMs) => market.change(token, atMs, atMs + minutes * MINUTE) ?? [],
          ),
        ),
      ),
    })),
  };
}

function changesOf(market: RawMarket, flares: readonly RawFlare[], minutes: number) {
  const all = flares.map(({ token, startMs }) => market.change(token, startMs, startMs + minutes * MINUTE));
  const known = all.filter((change) => change !== undefined);
  return { ...quartiles(known), unknown: all.filter((change) => change === undefined).length };
}

/** Returns one minute of every two hours of the clock, from a day to an hour and a half before. */
function controlMoments(token: string, startMs: number): readonly number[] {
  const moments: number[] = [];
  const first = Math.floor((startMs - 24 * HOUR) / (2 * HOUR));
  for (let slot = first; slot * 2 * HOUR <= startMs; slot += 1) {
    const atMs = slot * 2 * HOUR + (fnv(`${slot} ${token}`) % 120) * MINUTE;
    if (atMs >= startMs - 24 * HOUR && atMs <= startMs - 90 * MINUTE) moments.push(atMs);
  }
  return moments;
}

/** Returns the first second at half of the peak or less, if that lasts to the minute's end. */
function collapseOf(market: RawMarket, { token, startMs, endMs }: RawFlare): number | undefined {
  const untilMs = Math.max(startMs + HOUR, endMs);
  const looks = new Set([endMs, ...HORIZONS.map((minutes) => startMs + minutes * MINUTE)]);
  const start = market.known(token, startMs);
  let peak = start ?? 0;
  let since: number | undefined;
  for (let atMs = startMs + 1_000; atMs <= untilMs; atMs += 1_000) {
    const isLow = peak > 0 && (market.latest(token, atMs) ?? Number.POSITIVE_INFINITY) <= peak / 2;
    since = isLow ? (since ?? atMs) : undefined;
    const isMinute = atMs % MINUTE === 0;
    if (since !== undefined && isMinute) return since;
    const price = isMinute || looks.has(atMs) ? market.known(token, atMs) : undefined;
    if (price !== undefined && isOneUnit(price / (start ?? price))) peak = Math.max(peak, price);
  }
  return undefined;
}

/** Returns the periods without a price for a minute and twenty usual gaps, up to the next price. */
function outagesOf(heard: readonly number[]): readonly (readonly [number, number])[] {
  const outages: (readonly [number, number])[] = [];
  let [last, usual] = [heard[0] ?? 0, MINUTE];
  for (const at of [...heard, Number.POSITIVE_INFINITY]) {
    const limit = Math.max(MINUTE, 20 * usual);
    if (at - last > limit) outages.push([last + limit, at]);
    else if (at > last) usual += (at - last - usual) * 0.05;
    last = at;
  }
  return outages;
}

function quartiles(values: readonly number[]) {
  const sorted = [...values].sort((a, b) => a - b);
  // Each value has a rank from 0 to 1. Between two ranks, values are interpolated linearly.
  const at = (part: number) => {
    const above = sorted.findIndex((_, index) => index >= part * (sorted.length - 1));
    const [high, low] = [sorted[above], sorted[Math.max(0, above - 1)]];
    if (high === undefined || low === undefined) return null;
    const missing = above - part * (sorted.length - 1);
    return Number((high * (1 - missing) + low * missing).toFixed(4));
  };
  const rose = sorted.filter((value) => value > 0).length;
  return {
    n: sorted.length,
    rose: sorted.length === 0 ? null : round(rose / sorted.length),
    q1: at(0.25),
    median: at(0.5),
    q3: at(0.75),
  };
}

function fnv(text: string): number {
  let hash = 2_166_136_261n;
  for (const byte of Buffer.from(text)) hash = ((hash ^ BigInt(byte)) * 16_777_619n) % 4_294_967_296n;
  return Number(hash);
}

/** A larger ratio of prices means another unit. */
function isOneUnit(ratio: number): boolean {
  return ratio > 1e-6 && ratio < 1e6;
}

function percent(share: number): number {
  const rounded = Math.round(share * 10_000) / 100;
  return rounded === 0 ? 0 : rounded;
}

function round(share: number): number {
  return Number(share.toFixed(4));
}
