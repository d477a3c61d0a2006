import type { Label } from "./label.ts";

/**
 * A part of a script. The target price moves in a straight line (of its logarithm) from the end of
 * the previous phase to `offset`. The script's traders follow it, trade by trade.
 * - `crowd`: many different wallets; `buyShare` of the trades are buys.
 * - `wash`: a few wallets trade back and forth; the price ends where it started.
 * - `tick`: one wallet moves the price at once, in a single trade.
 */
export interface Phase {
  readonly style: "crowd" | "wash" | "tick";
  readonly untilMs: number;
  readonly tradesPerMs: number;
  readonly buyShare: number;
  /** Natural logarithm of the target price at the phase's end over the price without the script. */
  readonly offset: number;
  /** Share of the liquidity that is removed at the phase's start; 0 for none. */
  readonly removes: number;
}

/** The plan for one token, decided at the start and described by the label. */
export interface Script {
  readonly label: Label;
  readonly phases: readonly Phase[];
  /** Number of wallets that wash or tick; 0 for a crowd. */
  readonly insiders: number;
}

export class ScriptRun {
  readonly script: Script;
  #index = 0;
  #phaseFromMs: number;
  #offsetBefore = 0;

  constructor(script: Script) {
    this.script = script;
    this.#phaseFromMs = script.label.startAtMs;
  }

  /** The current phase; `undefined` after the last. */
  get phase(): Phase | undefined {
    return this.script.phases[this.#index];
  }

  /**
   * Returns the logarithm of the target price over the price without the script; after the last
   * phase, the effect that remains.
   */
  offsetAt(atMs: number): number {
    const phase = this.phase;
    if (phase === undefined) return this.#offsetBefore;
    if (phase.style === "tick") return phase.offset;
    const done = Math.max(0, Math.min(1, (atMs - this.#phaseFromMs) / (phase.untilMs - this.#phaseFromMs)));
    return this.#offsetBefore + (phase.offset - this.#offsetBefore) * done;
  }

  /** Starts the next phase and returns it; `undefined` if the script is over. */
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
