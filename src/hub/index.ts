/** Fan-out: the state at the head of the log, and the sessions that follow it. */
export { resolveChannels } from "./channel-mask.ts";
export { type ConnectQuery, checkQuery, URL_SUBSCRIPTION } from "./connect-query.ts";
export { createDeflateFraming } from "./deflate-framing.ts";
export { WINDOW_BITS } from "./deflated-texts.ts";
export type { FramedEvent, Framing } from "./framing.ts";
export { Head, type HeadBatch, type HeadListener } from "./head.ts";
export { Hub } from "./hub.ts";
export { DEFAULT_HUB_LIMITS, type HubLimits } from "./hub-limits.ts";
export type { HubOptions } from "./hub-options.ts";
export type { KnownLists, ListHistory, ListPlace } from "./list-history.ts";
export { LongPoll, OLDEST, type PollAnswer, type PollQuery } from "./long-poll.ts";
export { Session } from "./session.ts";
export type { Socket } from "./socket.ts";
export { sseFraming } from "./sse-framing.ts";
export { createTally, type Tally } from "./tally.ts";
export { TokenBucket } from "./token-bucket.ts";
export { TurnBudget, type TurnSteps } from "./turn-budget.ts";
export { websocketFraming } from "./websocket-framing.ts";
