/** Another Flarewire as the source: its log, followed. */

export { createLeader, type Leader, type LeaderOptions, type ReplicaSink } from "./leader.ts";
export { LeaderHealth } from "./leader-health.ts";
export type { LeaderBase, PlacedEvent } from "./leader-message.ts";
export type { LeaderBatch, MirrorPosition } from "./leader-stream.ts";
