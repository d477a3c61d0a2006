import type { Outcome, RecordFigures, RecordTrades, TrackRecord } from "../base/model/index.ts";
import { access } from "../extensions/access/index.ts";
import { alerts } from "../extensions/alerts/index.ts";
import { docs } from "../extensions/docs/index.ts";
import { history } from "../extensions/history/index.ts";
import { mcp } from "../extensions/mcp/index.ts";
import { pages } from "../extensions/pages/index.ts";
import { pairlist } from "../extensions/pairlist/index.ts";
import { permalinks } from "../extensions/permalinks/index.ts";

/** The extensions of every gateway. They are opened in this order and closed in reverse. */
// biome-ignore format: an extension is removed by deleting its line.
export const EXTENSIONS = [
  alerts,
  history,
  pairlist,
  docs,
  pages,
  permalinks,
  mcp,
  access,
] as const;

/** What prices did after flares, whether they were worth it, and whether their odds were right. */
export interface Summary {
  readonly record: RecordFigures;
  readonly trades: RecordTrades;
  readonly calibration: NonNullable<TrackRecord["calibration"]>;
}

interface Summarizing {
  summarize(outcomes: readonly Outcome[], costs: { feePct: number; slippagePct: number }): Promise<Summary>;
}

/** What summarizes final outcomes. */
// biome-ignore format: an extension is removed by deleting its line.
export const SUMMARIES: readonly Summarizing[] = [
  history,
];
