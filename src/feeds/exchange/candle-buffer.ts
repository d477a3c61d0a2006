import { MINUTE_MS } from "../../base/lib/time/time.ts";
import type { Candle } from "../../base/market/index.ts";
import type { MinuteCandle } from "./venue.ts";

/** Maximum number of unpublished minutes: a day. Beyond it, the oldest is dropped. */
const MAX_MINUTES = 1_440;

/**
 * Holds unpublished minutes, and the last published one for amendments. Of two versions of a
 * minute, the one with more volume counts; of equal ones, the later.
 */
export class CandleBuffer {
  /**
   * Number of candles that arrived too late to amend their minute. The feed adds late past candles
   * to it, and resets it.
   */
  late = 0;
  readonly #minutes = new Map<number, Map<string, MinuteCandle>>();
  /** The last published minute, with its amendments. */
  #published = new Map<string, MinuteCandle>();
  #publishedOpenAt = Number.NEGATIVE_INFINITY;
  #amended = new Map<string, MinuteCandle>();

  /** Adds a version of a minute. */
  put(token: string, candle: MinuteCandle): void {
    const { openAt } = candle;
    if (openAt === this.#publishedOpenAt) this.#amend(token, candle);
    else if (openAt < this.#publishedOpenAt) this.late += 1;
    else {
      const minute = this.#minutes.get(openAt) ?? new Map<string, MinuteCandle>();
      if (supersedes(candle, minute.get(token))) minute.set(token, candle);
      this.#minutes.set(openAt, minute);
      if (this.#minutes.size > MAX_MINUTES) this.#minutes.delete(Math.min(...this.#minutes.keys()));
    }
  }

  /**
   * Marks a minute as published and drops the earlier ones. Returns its candles, ordered by token.
   * A token without trades has none.
   */
  close(openAt: number): readonly Candle[] {
    const minute = this.#minutes.get(openAt) ?? new Map<string, MinuteCandle>();
    for (const at of this.#minutes.keys()) if (at <= openAt) this.#minutes.delete(at);
    this.#published = minute;
    this.#publishedOpenAt = openAt;
    this.#amended.clear();
    return eventsOf(minute);
  }

  /** Returns the candles of the last published minute that changed since the last call. */
  amendments(): readonly Candle[] {
    if (this.#amended.size === 0) return [];
    const amended = this.#amended;
    this.#amended = new Map();
    return eventsOf(amended);
  }

  #amend(token: string, candle: MinuteCandle): void {
    const published = this.#published.get(token);
    if (!supersedes(candle, published) || (published && isSame(candle, published))) return;
    this.#published.set(token, candle);
    this.#amended.set(token, candle);
  }
}

function supersedes(candle: MinuteCandle, earlier: MinuteCandle | undefined): boolean {
  return earlier === undefined || Number(candle.volume) >= Number(earlier.volume);
}

function isSame(one: MinuteCandle, two: MinuteCandle): boolean {
  const { open, high, low, close, volume } = one;
  return (
    two.open === open && two.high === high && two.low === low && two.close === close && two.volume === volume
  );
}

function eventsOf(minute: ReadonlyMap<string, MinuteCandle>): readonly Candle[] {
  return [...minute]
    .filter(([, { volume }]) => Number(volume) > 0)
    .toSorted(([one], [two]) => (one < two ? -1 : 1))
    .map(([token, candle]) => eventOf(token, candle));
}

/** Converts the minute to a market event, dated at the minute's end. */
export function eventOf(token: string, { openAt, ...rest }: MinuteCandle): Candle {
  return { kind: "candle", at: openAt + MINUTE_MS, group: "exchange", token, openAt, ...rest };
}
