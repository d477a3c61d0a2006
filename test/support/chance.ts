import { createRandom } from "../evaluate/random.ts";

/** Chance by seed, in the forms that a scenario asks for. */
export interface Chance {
  /** True this often, of 1. */
  happens(share: number): boolean;
  /** A whole number of [low, high]. */
  whole(low: number, high: number): number;
  /** A whole number of [low, high], each order of magnitude as likely as the next. */
  magnitude(low: number, high: number): number;
  /** One of these. */
  pick<T>(choices: readonly [T, ...T[]]): T;
}

/** The same seed gives the same chances, in the order in which they are asked for. */
export function createChance(seed: number): Chance {
  const random = createRandom(seed);
  return {
    happens: (share) => random.between(0, 1) < share,
    whole: (low, high) => random.whole(low, high),
    magnitude: (low, high) => Math.round(Math.exp(random.between(Math.log(low), Math.log(high)))),
    pick: (choices) => choices[random.whole(0, choices.length - 1)] ?? choices[0],
  };
}
