/** What a rule knows beside its place in the log, as JSON: enough to go on in another process as if nothing had been. */
export interface RuleState {
  /** Tokens that are not told of again, each with the event time in milliseconds up to which. */
  readonly quiet: readonly (readonly [token: string, untilMs: number])[];
  /** What began, and whether that was told: flares by id, and items above their level by channel and key. */
  readonly begun: readonly (readonly [what: string, told: boolean])[];
}

/** Of a rule that knows nothing yet. */
export const NEW_RULE: RuleState = { quiet: [], begun: [] };

/** Most beginnings remembered; of the oldest the ends are then told, whatever was said of them. */
const MAX_BEGUN = 10_000;

/** Decides which beginnings are told, and with them which ends. Times are event time, so that the same events give the same alerts at any speed. */
export class Quiet {
  readonly #quietMs: number;
  readonly #until: Map<string, number>;
  readonly #begun: Map<string, boolean>;
  /** What ended at {@link #timeMs}, and may end once more then, on another channel. */
  readonly #ended = new Set<string>();
  #timeMs = Number.NEGATIVE_INFINITY;

  constructor(quietMs: number, { quiet, begun }: RuleState) {
    this.#quietMs = quietMs;
    this.#until = new Map(quiet);
    this.#begun = new Map(begun);
  }

  get state(): RuleState {
    return { quiet: [...this.#until], begun: [...this.#begun] };
  }

  /** What is known to have begun and not to have ended. */
  get open(): readonly string[] {
    return [...this.#begun.keys()];
  }

  /** True for what is known to have begun and not to have ended. */
  isOpen(what: string): boolean {
    return this.#begun.has(what);
  }

  /** True when something may be told of the token now; then the quiet begins. */
  rings(token: string, atMs: number): boolean {
    if (this.#quietMs === 0) return true;
    for (const [other, untilMs] of this.#until) if (untilMs <= atMs) this.#until.delete(other);
    if (this.#until.has(token)) return false;
    this.#until.set(token, atMs + this.#quietMs);
    return true;
  }

  /** True when what begins with this token now is told. */
  begins(what: string, token: string, atMs: number): boolean {
    const told = this.rings(token, atMs);
    // Of a flare that begins in two lists the first word counts.
    if (!this.#begun.get(what)) this.#begun.set(what, told);
    for (const oldest of this.#begun.keys()) {
      if (this.#begun.size <= MAX_BEGUN) break;
      this.#begun.delete(oldest);
    }
    return told;
  }

  /** Takes it for begun, and says nothing. */
  assume(what: string): void {
    this.#begun.set(what, true);
  }

  /** Moves to this event time, and forgets what ended before: all ends of one flare have one time. */
  moveTo(atMs: number): void {
    if (atMs <= this.#timeMs) return;
    for (const what of this.#ended) this.#begun.delete(what);
    this.#ended.clear();
    this.#timeMs = atMs;
  }

  /** True when its end is told: unless its beginning was not. It stays known until {@link moveTo} where the same end may come once more. */
  ends(what: string, isLast: boolean): boolean {
    const told = this.#begun.get(what) ?? true;
    if (isLast) this.#begun.delete(what);
    else if (this.#begun.has(what)) this.#ended.add(what);
    return told;
  }
}
