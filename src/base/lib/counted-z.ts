/** Up to this many deviations, a term counts in full. Chosen on recorded minutes and real pools. */
const BEND_Z = 5;
/** Beyond that, a term that is far above keeps counting more, but ever more slowly. */
const SLOPE_Z = 2;

/**
 * Returns how much of a term's `z` counts in a flare's score: nothing below 0, all of it up to 5,
 * and 5 + 2·ln(1 + (z − 5)/2) above. So one extreme term cannot make a flare alone, yet a rise of
 * 240 % has a higher score than one of 25 %.
 */
export function countedZ(z: number): number {
  if (z <= BEND_Z) return Math.max(0, z);
  return BEND_Z + SLOPE_Z * Math.log1p((z - BEND_Z) / SLOPE_Z);
}
