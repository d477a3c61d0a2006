/** What the hub allows a connection, and what it holds for one. */
export interface HubLimits {
  /** Largest inbound message in bytes; default 4,096. `hello` tells it; the transport enforces it and calls `oversize()`. */
  readonly inboundBytes: number;
  /** Commands a second in the long run; default 5. */
  readonly commandsPerSecond: number;
  /** Commands at once after a rest; default 20. */
  readonly commandsBurst: number;
  /** Commands above the rate, or refused for another reason, that are answered before the connection is closed; each kind regains one a second. Default 10. */
  readonly refusals: number;
  /** Subscriptions of a connection; default 64. */
  readonly subscriptions: number;
  /** Time in which something has to be subscribed to; default 10,000. */
  readonly firstCommandWithinMs: number;
  /** Size of a write to a session that is catching up, exceeded by less than an event; default 64 KiB. */
  readonly catchUpBytes: number;
  /** Records read from the log at once for a session that is catching up; default 256. */
  readonly catchUpRecords: number;
  /** Events of the log from which a session in mode `latest` that is so far behind has them conflated; default 64. */
  readonly conflateFrom: number;
  /** Commands that wait while the session cannot answer; one more closes the connection. Default 32. */
  readonly parkedCommands: number;
  /** How long a client waits for its answer whose cursor lies beyond the head, in its epoch: of a mirror, the leader's next events may be on their way. Default 0: not at all. */
  readonly aheadWaitMs: number;
  /** How long a full socket may take nothing before the connection is closed; default 10,000. */
  readonly noProgressMs: number;
  /** Time between the close frame and the hard end, for clients that do not answer it; default 2,000. */
  readonly closeGraceMs: number;
}

/** The defaults named at each limit. */
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
  parkedCommands: 32,
  aheadWaitMs: 0,
  noProgressMs: 10_000,
  closeGraceMs: 2_000,
};
