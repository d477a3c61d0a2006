import { z } from "zod";

/** A rule's state besides its position in the log. Another process can resume from it. */
export const RuleState = z.object({
  /** Tokens in their quiet time, each with its end, in milliseconds of event time. */
  quiet: z.array(z.tuple([z.string(), z.number()]).readonly()).readonly(),
  /** Open flares and raised items, and whether their start or a surge was reported. */
  begun: z.array(z.tuple([z.string(), z.boolean()]).readonly()).readonly(),
});
export type RuleState = z.infer<typeof RuleState>;

export const NEW_RULE: RuleState = { quiet: [], begun: [] };

/**
 * Maximum number of remembered starts. A forgotten flare's finish is reported, and a forgotten item
 * can be reported to rise again.
 */
const MAX_BEGUN = 10_000;

/**
 * Decides which starts, surges and ends are reported. Uses event time, so a replay at any speed
 * agrees.
 */
export class Quiet {
  readonly #quietMs: number;
  readonly #until: Map<string, number>;
  readonly #begun: Map<string, boolean>;

  constructor(quietMs: number, { quiet, begun }: RuleState) {
    this.#quietMs = quietMs;
    this.#until = new Map(quiet);
    this.#begun = new Map(begun);
  }

  get state(): RuleState {
    return { quiet: [...this.#until], begun: [...this.#begun] };
  }

  /** Everything that has begun and not ended. */
  get open(): readonly string[] {
    return [...this.#begun.keys()];
  }

  isOpen(what: string): boolean {
    return this.#begun.has(what);
  }

  /** Returns true if the token is not quiet, and starts its quiet time. */
  mayReport(token: string, atMs: number): boolean {
    if (this.#quietMs === 0) return true;
    for (const [other, untilMs] of this.#until) if (untilMs <= atMs) this.#until.delete(other);
    if (this.#until.has(token)) return false;
    this.#until.set(token, atMs + this.#quietMs);
    return true;
  }

  /** Records a start; true if it is reported. */
  begins(what: string, token: string, atMs: number): boolean {
    const isReported = this.mayReport(token, atMs);
    this.#begun.set(what, isReported);
    for (const oldest of this.#begun.keys()) {
      if (this.#begun.size <= MAX_BEGUN) break;
      this.#begun.delete(oldest);
    }
    return isReported;
  }

  /**
   * Records a surge; true if it is reported: if the start was, or now that the token is not quiet
   * any more.
   */
  surges(what: string, token: string, atMs: number): boolean {
    if (this.#begun.get(what) ?? true) return true;
    const isReported = this.mayReport(token, atMs);
    this.#begun.set(what, isReported);
    return isReported;
  }

  /** Marks it as begun, as if its start had been reported. */
  assumeBegun(what: string): void {
    this.#begun.set(what, true);
  }

  /** Records an end; true if it is reported. */
  ends(what: string): boolean {
    const isReported = this.#begun.get(what) ?? true;
    this.#begun.delete(what);
    return isReported;
  }
}
