const FACTOR = Number(process.env.LAW_FACTOR ?? 1);

/** How many random cases a law is tried on: these in `npm test`, a multiple in `npm run soak`. */
export const lawRuns = (inTests: number) => ({ numRuns: inTests * FACTOR });
