/** The server broke a rule. */
export class Failure extends Error {
  /** The broken rules. `undefined`: those of the current step or case. */
  readonly rules: readonly string[] | undefined;
  readonly expected: string;
  readonly came: string;

  constructor(expected: string, came: string, rules?: readonly string[]) {
    super(`expected ${expected}; received ${came}`);
    this.expected = expected;
    this.came = came;
    this.rules = rules;
  }
}

/**
 * The rule cannot be tested now, for example because the market is quiet or a list is empty. The
 * message has the reason.
 */
export class NotTried extends Error {
  /** Whether another run of the case may succeed. */
  readonly again: boolean;

  constructor(message: string, again = false) {
    super(message);
    this.again = again;
  }
}

/** The server cannot be reached. */
export class Unreachable extends Error {}
