import { createRandom } from "../../tools/evaluate/random.ts";

/** A seeded source of random choices. */
export interface Chance {
  /** Returns true with probability `share`. */
  happens(share: number): boolean;
  /** Returns an integer in [low, high]. */
  whole(low: number, high: number): number;
  /** Returns an integer in [low, high]. All orders of magnitude are equally likely. */
  magnitude(low: number, high: number): number;
  /** Returns one of the choices. */
  pick<T>(choices: readonly [T, ...T[]]): T;
}

/** Creates a source whose results depend only on the seed and the order of the calls. */
export function createChance(seed: number): Chance {
  const random = createRandom(seed);
  return {
    happens: (share) => random.between(0, 1) < share,
    whole: (low, high) => random.whole(low, high),
    magnitude: (low, high) => Math.round(Math.exp(random.between(Math.log(low), Math.log(high)))),
    pick: (choices) => choices[random.whole(0, choices.length - 1)] ?? choices[0],
  };
}
