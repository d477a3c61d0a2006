/**
 * Returns the minimum number of events between two checkpoints: a 32nd of the log's `events`, but
 * at least 64.
 */
export function checkpointInterval(events: number): number {
  return Math.max(64, events / 32);
}
