export interface HubLimits {
  /**
   * Largest inbound message in bytes, default 4,096. The transport calls `Session.oversize` for a
   * larger one.
   */
  readonly inboundBytes: number;
  /** Sustained commands per second; default 5. */
  readonly commandsPerSecond: number;
  /** Commands in a burst; default 20. */
  readonly commandsBurst: number;
  /**
   * Rejected commands that a connection survives, default 10; the count falls by one per second.
   * Commands above the rate are counted separately, with the same limit.
   */
  readonly refusals: number;
  /** Subscriptions per connection; default 64. */
  readonly subscriptions: number;
  /** Deadline for the first subscription, in milliseconds; default 10,000. */
  readonly firstCommandWithinMs: number;
  /** Maximum size of a catch-up write in bytes, default 64 KiB; the last event may exceed it. */
  readonly catchUpBytes: number;
  /** Maximum number of records read from the log at once to catch up a session; default 256. */
  readonly catchUpRecords: number;
  /**
   * A session in mode `latest` whose backlog spans at least this many events of the log gets the
   * lists instead (PROTOCOL.md, W34); default 64.
   */
  readonly conflateFrom: number;
  /** Commands that may wait for a response; one more closes the connection. Default 32. */
  readonly queuedCommands: number;
  /** Milliseconds to wait for the head to reach a client's cursor that is beyond it; default 0. */
  readonly aheadWaitMs: number;
  /** Milliseconds without progress after which a full socket is closed; default 10,000. */
  readonly noProgressMs: number;
  /** Time between the close frame and termination, in milliseconds; default 2,000. */
  readonly closeGraceMs: number;
}

export const DEFAULT_HUB_LIMITS: HubLimits = {
  inboundBytes: 4_096,
  commandsPerSecond: 5,
  commandsBurst: 20,
  refusals: 10,
  subscriptions: 64,
  firstCommandWithinMs: 10_000,
  catchUpBytes: 65_536,
  catchUpRecords: 256,
  conflateFrom: 64,
  queuedCommands: 32,
  aheadWaitMs: 0,
  noProgressMs: 10_000,
  closeGraceMs: 2_000,
};
