/**
 * The server's reasons to close a WebSocket or end a stream of server-sent events, with what
 * `actionAfter` returns for each.
 */
export const CLOSE_CODES = {
  "going-away": { code: 1001, action: "backoff", meaning: "the server shuts down immediately" },
  "bad-request": { code: 4000, action: "stop", meaning: "too many invalid commands" },
  "message-too-big": { code: 4001, action: "stop", meaning: "a frame exceeds the limit of inbound bytes" },
  "no-command": {
    code: 4002,
    action: "stop",
    meaning: "the client did not subscribe within the time that hello allows",
  },
  unauthorized: { code: 4003, action: "stop", meaning: "the key was revoked or has expired" },
  forbidden: { code: 4004, action: "stop", meaning: "the key has fewer rights than before" },
  "rate-limited": {
    code: 4100,
    action: "backoff",
    meaning: "the client repeatedly exceeded the command rate in hello",
  },
  internal: { code: 4101, action: "backoff", meaning: "an internal error" },
  draining: { code: 4200, action: "resume", meaning: "the server is shutting down" },
  "slow-consumer": {
    code: 4201,
    action: "resume",
    meaning: "the client did not read for too long, or its cursor expired",
  },
  "heartbeat-lost": { code: 4202, action: "resume", meaning: "the client did not answer a ping in time" },
  superseded: {
    code: 4203,
    action: "resume",
    meaning: "a later connection with the same client id replaced this one",
  },
  reset: {
    code: 4204,
    action: "resume",
    meaning: "the history ends here; resuming with the cursor reports the loss",
  },
} as const;

export type CloseReason = keyof typeof CLOSE_CODES;
