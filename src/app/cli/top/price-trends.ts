import { z } from "zod";
import type { Clock } from "../../../base/lib/time/clock.ts";
import { HOUR_MS, MINUTE_MS } from "../../../base/lib/time/time.ts";

/** Characters of a trend, one for every six minutes. */
export const TREND_WIDTH = 10;
const MARKS = "▁▂▃▄▅▆▇█";
/** Minimum time between two requests, however fast the server's market runs. */
const MIN_PAUSE_MS = 2_000;

const Candle = z.looseObject({ open_at: z.string(), close: z.string().nullable() });
/** Accepts any input, as the table does. */
const Candles = z.looseObject({
  closed_at: z.string().catch(""),
  bsc: z.record(z.string(), z.array(Candle)).catch({}),
});

/** Draws each token's price of the last hour as a line of text, from the server's candles. */
export class PriceTrends {
  readonly #fetchCandles: () => Promise<object>;
  readonly #clock: Clock;
  #trends: ReadonlyMap<string, string> = new Map();
  #seen = "";
  #askedMs = Number.NEGATIVE_INFINITY;

  constructor(fetchCandles: () => Promise<object>, clock: Clock) {
    this.#fetchCandles = fetchCandles;
    this.#clock = clock;
  }

  /** Empty before the candles are known, and with a server that has none. */
  trendOf(address: string): string {
    return this.#trends.get(address.toLowerCase()) ?? "";
  }

  /** Fetches the candles at a new minute of event time or a new newest flare. Never rejects. */
  async refresh(nowMs: number, newestId: string | undefined): Promise<void> {
    const state = `${Math.floor(nowMs / MINUTE_MS)} ${newestId}`;
    const atMs = this.#clock.monotonic();
    if (newestId === undefined || state === this.#seen || atMs - this.#askedMs < MIN_PAUSE_MS) return;
    this.#seen = state;
    this.#askedMs = atMs;
    await this.#fetchCandles().then(
      (body) => {
        const { data } = Candles.safeParse(body);
        const entries = Object.entries(data?.bsc ?? {});
        const endMs = Date.parse(data?.closed_at ?? "");
        this.#trends = new Map(
          entries.map(([address, candles]) => [address.toLowerCase(), trendText(candles, endMs)]),
        );
      },
      () => {},
    );
  }
}

/** Draws a block for every six minutes before `endMs`, as high as the price; blank if unknown. */
export function trendText(
  candles: readonly { readonly open_at: string; readonly close: string | null }[],
  endMs: number,
): string {
  const points = candles
    .map(({ open_at, close }) => [Date.parse(open_at), Number(close)] as const)
    .filter(([atMs, price]) => price > 0 && atMs > endMs - HOUR_MS - MINUTE_MS);
  const prices = Array.from({ length: TREND_WIDTH }, (_, slot) => {
    const untilMs = endMs - ((TREND_WIDTH - 1 - slot) * HOUR_MS) / TREND_WIDTH;
    return points.findLast(([atMs]) => atMs < untilMs)?.[1] ?? Number.NaN;
  });
  const known = prices.filter((price) => !Number.isNaN(price));
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const steps = MARKS.length - 1;
  return prices
    .map((price) => MARKS[Math.round(((price - low) / (high - low || 1)) * steps)] ?? " ")
    .join("");
}
