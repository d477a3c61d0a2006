const FACTOR = Number(process.env.LAW_FACTOR ?? 1);

/** True in `npm run soak`, which plays whole recordings. `npm test` plays a part of each. */
export const IS_SOAK = FACTOR > 1;

/** Returns every fourth variant in `npm test`, and all of them in `npm run soak`. */
export const shareOf = <Variant>(variants: readonly Variant[]): readonly Variant[] =>
  IS_SOAK ? variants : variants.filter((_, index) => index % 4 === 0);

/**
 * Returns the number of random cases of a property: `inTests` in `npm test`, a multiple of `inSoak`
 * in `npm run soak`.
 */
export const lawRuns = (inTests: number, inSoak = inTests) => ({
  numRuns: IS_SOAK ? inSoak * FACTOR : inTests,
});
