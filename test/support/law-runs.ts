const FACTOR = Number(process.env.LAW_FACTOR ?? 1);

/** True in `npm run soak`, which plays whole recordings. `npm test` plays part of each. */
export const IS_SOAK = FACTOR > 1;

/**
 * Of variants of one test that differ in a number or a kind: each fourth in `npm test`, all of
 * them in `npm run soak`.
 */
export const shareOf = <Variant>(variants: readonly Variant[]): readonly Variant[] =>
  IS_SOAK ? variants : variants.filter((_, place) => place % 4 === 0);

/**
 * How many random cases a law is tried on: these in `npm test`, and in `npm run soak` a multiple of
 * them, or of more where each case takes long.
 */
export const lawRuns = (inTests: number, inSoak = inTests) => ({
  numRuns: IS_SOAK ? inSoak * FACTOR : inTests,
});
