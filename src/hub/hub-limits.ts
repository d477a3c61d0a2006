/** Limits per connection. */
export interface HubLimits {
  /**
   * Largest inbound message in bytes; default 4,096. Announced in `hello`; the transport enforces
   * it and calls `oversize()`.
   */
  readonly inboundBytes: number;
  /** Sustained commands per second; default 5. */
  readonly commandsPerSecond: number;
  /** Commands in a burst; default 20. */
  readonly commandsBurst: number;
  /**
   * Rejected commands that are answered before the connection is closed; default 10. Commands above
   * the rate and other rejections count separately. Each budget regains one per second.
   */
  readonly refusals: number;
  /** Subscriptions per connection; default 64. */
  readonly subscriptions: number;
  /** Deadline for the first subscription, in milliseconds; default 10,000. */
  readonly firstCommandWithinMs: number;
  /** Size of a catch-up write in bytes, exceeded by less than one event; default 64 KiB. */
  readonly catchUpBytes: number;
  /** Records read from the log at once to catch up a session; default 256. */
  readonly catchUpRecords: number;
  /**
   * Number of missed events from which a session in mode `latest` gets them conflated; default 64.
   */
  readonly conflateFrom: number;
  /**
   * Commands that may wait until the session can answer; one more closes the connection. Default
   * 32.
   */
  readonly queuedCommands: number;
  /**
   * How long a client waits whose cursor lies beyond the head of its epoch, in milliseconds. On a
   * mirror, the leader's next events may still be in flight. Default 0: it does not wait.
   */
  readonly aheadWaitMs: number;
  /**
   * How long a full socket may make no progress before the connection is closed, in milliseconds;
   * default 10,000.
   */
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
