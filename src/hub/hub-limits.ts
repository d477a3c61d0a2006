export interface HubLimits {
  /**
   * Largest inbound message in bytes, default 4,096. The transport calls `oversize()` for larger
   * ones.
   */
  readonly inboundBytes: number;
  /** Sustained commands per second; default 5. */
  readonly commandsPerSecond: number;
  /** Commands in a burst; default 20. */
  readonly commandsBurst: number;
  /**
   * Rejected commands before a close, default 10; the count falls by one per second. Commands above
   * the rate are counted separately.
   */
  readonly refusals: number;
  /** Subscriptions per connection; default 64. */
  readonly subscriptions: number;
  /** Deadline for the first subscription, in milliseconds; default 10,000. */
  readonly firstCommandWithinMs: number;
  /** Size of a catch-up write in bytes, default 64 KiB; the last event may exceed it. */
  readonly catchUpBytes: number;
  /** Records read from the log at once to catch up a session; default 256. */
  readonly catchUpRecords: number;
  /**
   * A session in mode `latest` whose backlog has at least this many events gets the lists instead;
   * default 64.
   */
  readonly conflateFrom: number;
  /** Commands that may wait for a response; one more closes the connection. Default 32. */
  readonly queuedCommands: number;
  /** Milliseconds to wait for the head if a client's cursor is beyond it; default 0. */
  readonly aheadWaitMs: number;
  /** Milliseconds that a full socket may make no progress; default 10,000. */
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
