/** Random numbers from a seed: the same on every machine. */
export interface Random {
  /** Returns a number in [low, high). */
  between(low: number, high: number): number;
  /** Returns a whole number in [low, high]. */
  whole(low: number, high: number): number;
}

/**
 * Creates a generator by mulberry32 (Tommy Ettinger, public domain). Its 32 bits of state are
 * enough to place some thousand episodes.
 */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return {
    between: (low, high) => low + next() * (high - low),
    whole: (low, high) => low + Math.floor(next() * (high - low + 1)),
  };
}
