import type { Candle } from "../../market/index.ts";

/** Holds back the candles of newly followed tokens until their past arrives, then sorts both. */
export class PastMinutes {
  readonly #held = new Map<string, Map<number, Candle>>();
  #released: string[] = [];

  /** Holds the token's candles back from now on. */
  hold(token: string): void {
    this.#held.set(token, new Map());
  }

  has(token: string): boolean {
    return this.#held.has(token);
  }

  /** Adds a minute of a token that is held back. Of two versions the first stays. */
  add(candle: Candle): void {
    const minutes = this.#held.get(candle.token);
    if (minutes && !minutes.has(candle.openAt)) minutes.set(candle.openAt, candle);
  }

  /** Lets the token's candles pass with the next {@link take}. */
  release(token: string): void {
    if (this.#held.has(token)) this.#released.push(token);
  }

  /** Returns the minutes of the tokens that were released. They happen at `atMs`. */
  take(atMs: number): readonly Candle[] {
    const tokens = this.#released.toSorted();
    this.#released = [];
    return tokens.flatMap((token) => {
      const minutes = [...(this.#held.get(token)?.values() ?? [])];
      this.#held.delete(token);
      return minutes.toSorted((a, b) => a.openAt - b.openAt).map((candle) => ({ ...candle, at: atMs }));
    });
  }
}
