/** The server did not do what a rule says. */
export class Failure extends Error {
  /** The rules that it breaks; `undefined`: those of the step, or of the case, that was at work. */
  readonly rules: readonly string[] | undefined;
  readonly expected: string;
  readonly came: string;

  constructor(expected: string, came: string, rules?: readonly string[]) {
    super(`expected ${expected}; came ${came}`);
    this.expected = expected;
    this.came = came;
    this.rules = rules;
  }
}

/**
 * Nothing can be said of the rule here and now: the market is quiet, a list is empty. The message
 * says why.
 */
export class NotTried extends Error {
  /** Whether another run of the case may say more. */
  readonly again: boolean;

  constructor(message: string, again = false) {
    super(message);
    this.again = again;
  }
}

/** The server cannot be reached at all. */
export class Unreachable extends Error {}
