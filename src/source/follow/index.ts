/** Mirrors another Flarewire: follows its log as the source. */

export { createLeader, type Leader, type LeaderOptions, type ReplicaSink } from "./leader.ts";
export { LeaderHealth } from "./leader-health.ts";
export type { LeaderBase, ReplicatedEvent } from "./leader-message.ts";
export type { LeaderBatch, MirrorPosition } from "./leader-stream.ts";
