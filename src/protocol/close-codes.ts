/**
 * Why the server closed a WebSocket. The range says what to do: 4000–4099 `stop` until something changes, 4100–4199 `backoff`
 * at least a second with full jitter, 4200–4299 `resume` at once with the cursor. 1001 is a hard stop; treat it as `backoff`.
 */
export const CLOSE_CODES = {
  "going-away": { code: 1001, action: "backoff", meaning: "the server stops at once" },
  "bad-request": { code: 4000, action: "stop", meaning: "frames that are no commands, again and again" },
  "message-too-big": { code: 4001, action: "stop", meaning: "a frame above the limit of inbound bytes" },
  "no-command": {
    code: 4002,
    action: "stop",
    meaning: "nothing was subscribed to in the time that hello allows",
  },
  unauthorized: { code: 4003, action: "stop", meaning: "the key was revoked, or has expired" },
  forbidden: { code: 4004, action: "stop", meaning: "the key's plan was lowered" },
  "rate-limited": {
    code: 4100,
    action: "backoff",
    meaning: "more commands a second than hello allows, again and again",
  },
  internal: { code: 4101, action: "backoff", meaning: "a fault of the server" },
  draining: { code: 4200, action: "resume", meaning: "the server is being replaced" },
  "slow-consumer": {
    code: 4201,
    action: "resume",
    meaning: "nothing was read for too long, or the cursor fell off the log",
  },
  "heartbeat-lost": { code: 4202, action: "resume", meaning: "no pong came in time" },
  superseded: {
    code: 4203,
    action: "resume",
    meaning: "a later connection with the same client id took this one's place",
  },
  reset: {
    code: 4204,
    action: "resume",
    meaning: "what was served so far ends here; the cursor tells what is lost",
  },
} as const;

export type CloseReason = keyof typeof CLOSE_CODES;

/** What the range of a code of Flarewire's own says; `undefined` for codes that others sent. */
export function rangeAction(code: number): "stop" | "backoff" | "resume" | undefined {
  return (["stop", "backoff", "resume"] as const)[Math.floor(code / 100) - 40];
}

/** What a client should do after a close with this code: see {@link CLOSE_CODES}. Codes that Flarewire did not send mean `backoff`. */
export function closeAction(code: number): "stop" | "backoff" | "resume" {
  return rangeAction(code) ?? "backoff";
}
