const FACTOR = Number(process.env.LAW_FACTOR ?? 1);

/** True in `npm run soak`, which plays whole recordings. `npm test` plays part of each. */
export const IS_SOAK = FACTOR > 1;

/** How many random cases a law is tried on: these in `npm test`, a multiple in `npm run soak`. */
export const lawRuns = (inTests: number) => ({ numRuns: inTests * FACTOR });
