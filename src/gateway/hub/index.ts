/** Fan-out: the state at the head of the log, and the sessions that follow it. */
export { resolveChannels } from "./channel-mask.ts";
export { WINDOW_BITS } from "./delivery/deflate-cache.ts";
export { createDeflateFraming } from "./delivery/deflate-framing.ts";
export type { FramedEvent, Framing } from "./delivery/framing.ts";
export { sseFraming } from "./delivery/sse-framing.ts";
export { websocketFraming } from "./delivery/websocket-framing.ts";
export { type Claimant, FairQueue } from "./fair-queue.ts";
export { Head, type HeadBatch, type HeadLike, keepFollowing } from "./head.ts";
export { Hub } from "./hub.ts";
export { createHubCounters } from "./hub-counters.ts";
export type { HubOptions } from "./hub-options.ts";
export type { KnownLists, ListHistory } from "./lists/list-history.ts";
export { LongPoll, type PollAnswer, type PollQuery } from "./poll/long-poll.ts";
export { type ConnectQuery, checkQuery, OLDEST } from "./session/connect-query.ts";
export { Session } from "./session/session.ts";
export type { Socket } from "./session/socket.ts";
export { TokenBucket } from "./session/token-bucket.ts";
export { TurnBudget } from "./turn-budget.ts";
