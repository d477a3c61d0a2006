/** Returns the events between two checkpoints of a log: about 32 in all, at least 64 apart. */
export function checkpointInterval(events: number): number {
  return Math.max(64, events / 32);
}
