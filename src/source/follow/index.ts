/** Mirrors another Flarewire: follows its log as the source. */

export { createLeader, type Leader, type ReplicaSink } from "./leader.ts";
export { LeaderHealth } from "./leader-health.ts";
export type { ReplicatedEvent } from "./leader-message.ts";
export type { LeaderBatch } from "./leader-stream.ts";
