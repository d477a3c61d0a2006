/** Edges: gateways that copy the log of another one. */
export { FollowedLeader, type Leader, type ReplicaSink } from "./leader.ts";
export { LeaderHealth } from "./leader-health.ts";
export type { ReplicatedEvent } from "./leader-message.ts";
export type { LeaderBatch } from "./leader-stream.ts";
export { createReplicaSink } from "./log-replica.ts";
export { openLeader } from "./open-leader.ts";
