/** The facts about a flare on a chain at its start. */
export const START = {
  group: "bsc",
  form: "trades",
  score: 3,
  ageS: 60,
  liquidityUsd: 50_000,
  lockedShare: 0,
} as const;
