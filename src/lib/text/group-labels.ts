/** Labels of the groups of charts and leaderboards, in display order. */
export const GROUP_LABELS = {
  bsc: "BNB Smart Chain",
  exchange: "Exchange",
  matic: "Polygon",
  avalanche: "Avalanche",
} as const;

/** The same, shorter. */
export const SHORT_GROUP_LABELS = { ...GROUP_LABELS, bsc: "BSC" } as const;

export type GroupName = keyof typeof GROUP_LABELS;

export const GROUP_NAMES = Object.keys(GROUP_LABELS) as readonly GroupName[];
