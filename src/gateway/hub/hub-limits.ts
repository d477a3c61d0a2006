/** The limits of a hub, and their defaults. */
export const DEFAULT_HUB_LIMITS = {
  /** Largest inbound message in bytes. The transport calls `Session.oversize` for a larger one. */
  inboundBytes: 4_096,
  /** Sustained commands per second. */
  commandsPerSecond: 5,
  /** Commands in a burst. */
  commandsBurst: 20,
  /**
   * Rejected commands that a connection survives; the count falls by one per second. Commands above
   * the rate are counted separately, with the same limit.
   */
  refusals: 10,
  /** Subscriptions per connection. */
  subscriptions: 64,
  /** Deadline for the first subscription, in milliseconds. */
  firstCommandWithinMs: 10_000,
  /** Maximum size of a catch-up write in bytes; the last event may exceed it. */
  catchUpBytes: 65_536,
  /** Maximum number of records read from the log at once to catch up a session. */
  catchUpRecords: 256,
  /**
   * A session in mode `latest` whose backlog spans at least this many events of the log gets the
   * lists instead (PROTOCOL.md, W34).
   */
  conflateFrom: 64,
  /** Commands that may wait for a response; one more closes the connection. */
  queuedCommands: 32,
  /** Milliseconds to wait for the head to reach a client's cursor that is beyond it. */
  aheadWaitMs: 0,
  /** Milliseconds without progress after which a full socket is closed. */
  noProgressMs: 10_000,
  /** Time between the close frame and termination, in milliseconds. */
  closeGraceMs: 2_000,
};

export type HubLimits = Readonly<typeof DEFAULT_HUB_LIMITS>;
