/** The groups of charts and leaderboards as people call them, in the order in which they are shown. */
export const GROUP_LABELS = {
  bsc: "BNB Smart Chain",
  exchange: "Exchange",
  matic: "Polygon",
  avalanche: "Avalanche",
} as const;

export type GroupName = keyof typeof GROUP_LABELS;

/** Their names, in that order. */
export const GROUP_NAMES = Object.keys(GROUP_LABELS) as readonly GroupName[];
