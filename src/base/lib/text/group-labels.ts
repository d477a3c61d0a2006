/** Labels of the groups, in display order. */
export const GROUP_LABELS = {
  bsc: "BSC",
  exchange: "Exchange",
  matic: "Polygon",
  avalanche: "Avalanche",
} as const;

export type GroupName = keyof typeof GROUP_LABELS;

export const GROUP_NAMES = Object.keys(GROUP_LABELS) as readonly GroupName[];
