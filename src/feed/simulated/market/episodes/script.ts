import type { Label } from "./label.ts";

/**
 * A stretch of a script. The price aimed at runs in a straight line (of its logarithm) from where the last phase ended to `offset`;
 * the script's own traders follow it, trade by trade.
 * - `crowd`: many different wallets, `buyShare` of the trades are buys.
 * - `wash`: a few wallets trade with themselves to and fro; the price ends where it was.
 * - `tick`: one wallet moves the price at once, in a single trade.
 */
export interface Phase {
  readonly style: "crowd" | "wash" | "tick";
  readonly untilMs: number;
  readonly tradesPerMs: number;
  readonly buyShare: number;
  /** Natural logarithm of the aimed-at price over what it would be without the script, at the phase's end. */
  readonly offset: number;
  /** Share of the liquidity that is taken away when the phase begins; 0 for none. */
  readonly removes: number;
}

/** What is going to happen to one token, decided whole at the start; the label says it to those who measure. */
export interface Script {
  readonly label: Label;
  readonly phases: readonly Phase[];
  /** How many wallets wash or tick; 0 for the crowd. */
  readonly crew: number;
}

/** Where a script stands. */
export class ScriptRun {
  readonly script: Script;
  #index = 0;
  #phaseFromMs: number;
  #offsetBefore = 0;

  constructor(script: Script) {
    this.script = script;
    this.#phaseFromMs = script.label.startAtMs;
  }

  /** The phase that runs now; `undefined` after the last. */
  get phase(): Phase | undefined {
    return this.script.phases[this.#index];
  }

  /** The aimed-at price's logarithm at a moment of the present phase; after the last phase where it ended. */
  offsetAt(atMs: number): number {
    const phase = this.phase;
    if (phase === undefined) return this.#offsetBefore;
    if (phase.style === "tick") return phase.offset;
    const done = Math.max(0, Math.min(1, (atMs - this.#phaseFromMs) / (phase.untilMs - this.#phaseFromMs)));
    return this.#offsetBefore + (phase.offset - this.#offsetBefore) * done;
  }

  /** Goes on to the next phase; returns it, `undefined` when the script is over. */
  next(): Phase | undefined {
    const phase = this.phase;
    if (phase !== undefined) {
      this.#offsetBefore = phase.offset;
      this.#phaseFromMs = phase.untilMs;
      this.#index += 1;
    }
    return this.phase;
  }
}
