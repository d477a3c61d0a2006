import { MINUTE_MS } from "../../../base/lib/time/time.ts";

/** A token's price, comparable over time: see `rescalePrices`. */
export interface Price {
  readonly atMs: number;
  /** As the market wrote it. */
  readonly text: string;
  /** Divided by the factors that were applied to earlier prices. */
  readonly value: number;
}

/** An older price counts as unknown. */
const MAX_AGE_MINUTES = 60;

/** Maximum number of moments in a control. */
const CONTROLS = 50;

/** The last price of each token in each minute. */
export class PriceHistory {
  readonly #tokens = new Map<string, { readonly minutes: number[]; readonly values: number[] }>();

  note(key: string, { atMs, value }: Price): void {
    const minute = Math.floor(atMs / MINUTE_MS);
    const known = this.#tokens.get(key);
    if (!known) this.#tokens.set(key, { minutes: [minute], values: [value] });
    else if (known.minutes.at(-1) === minute) known.values[known.values.length - 1] = value;
    else {
      known.minutes.push(minute);
      known.values.push(value);
    }
  }

  /**
   * Returns a control: pairs of prices that are `minutes` apart, from up to {@link CONTROLS}
   * moments, spread evenly from the token's first price to its last. Empty if they are at most
   * `minutes` apart.
   */
  changes(key: string, minutes: number): (readonly [from: number, to: number])[] {
    const known = this.#tokens.get(key)?.minutes ?? [];
    const first = known[0] ?? 0;
    const room = (known.at(-1) ?? 0) - minutes - first;
    if (room <= 0) return [];
    return Array.from(
      { length: CONTROLS },
      (_, at) => first + Math.floor(((at + 0.5) / CONTROLS) * room),
    ).flatMap((start) => {
      const [from, to] = [this.#at(key, start), this.#at(key, start + minutes)];
      return from === undefined || to === undefined ? [] : [[from, to] as const];
    });
  }

  /** The price at the end of a minute; `undefined` if none came within the hour before. */
  #at(key: string, minute: number): number | undefined {
    const known = this.#tokens.get(key);
    if (!known) return undefined;
    let [low, high] = [0, known.minutes.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((known.minutes[middle] ?? 0) <= minute) low = middle + 1;
      else high = middle;
    }
    const found = known.minutes[low - 1];
    return found === undefined || minute - found > MAX_AGE_MINUTES ? undefined : known.values[low - 1];
  }
}
