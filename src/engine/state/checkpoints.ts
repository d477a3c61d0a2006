import { type EngineCheckpoint, type EngineState, packRest } from "./checkpoint.ts";
import { Packing } from "./packing.ts";
import type { TokenState } from "./token-state.ts";

/** Packs an engine's state, at once or while the engine continues. */
export class Checkpoints {
  #packing: Packing | undefined;

  /** Returns the complete state, which shares nothing with the engine. */
  pack(state: EngineState): EngineCheckpoint & { readonly slices: readonly string[] } {
    return { ...packRest(state), slices: [...new Packing(state).slices()] };
  }

  /**
   * Begins to pack the state, and abandons what was begun before. Slices are packed as they are
   * read. Ending the iteration early abandons the rest.
   *
   * @param waiting The tokens that wait to be judged without an event of their own.
   */
  begin(
    state: EngineState,
    waiting: readonly TokenState[],
  ): EngineCheckpoint & { readonly slices: Iterable<string> } {
    const packing = new Packing(state);
    for (const token of state.tokens) if (isInUse(token)) packing.keep(token);
    for (const token of waiting) packing.keep(token);
    this.#packing = packing;
    return { ...packRest(state), slices: this.#slicesOf(packing) };
  }

  /** Packs the token before it changes, or nothing if it is `undefined`. */
  keep(token: TokenState | undefined): void {
    if (token) this.#packing?.keep(token);
  }

  get isPacking(): boolean {
    return this.#packing !== undefined;
  }

  /** Packs about a slice of what is left. Returns whether something is still left. */
  keepMore(): boolean {
    return this.#packing?.keepMore() ?? false;
  }

  *#slicesOf(packing: Packing): Generator<string, void, void> {
    try {
      for (const slice of packing.slices()) {
        if (this.#packing !== packing) throw new Error("another checkpoint was begun");
        yield slice;
      }
    } finally {
      if (this.#packing === packing) this.#packing = undefined;
    }
  }
}

/** Whether a second may change the token without an event of its own. */
function isInUse({ isTouched, flare, followed, shownCandles }: TokenState): boolean {
  return isTouched || flare !== null || followed !== null || shownCandles !== null;
}
