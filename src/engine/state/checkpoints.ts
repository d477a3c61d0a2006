import { type EngineCheckpoint, type EngineState, packRest } from "./checkpoint.ts";
import { Packing } from "./packing.ts";
import type { TokenState } from "./token-state.ts";

/**
 * Packs an engine's state, at once or while the engine continues. A failure to pack only ends the
 * iteration of the slices.
 */
export class Checkpoints {
  #packing: Packing | undefined;
  /** Tokens that the next second may change without an event of their own. */
  #inUse: readonly TokenState[] = [];
  #failure: unknown;

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
    this.#inUse = [...waiting, ...state.tokens.filter(isInUse)];
    this.#packing = packing;
    this.#failure = new Error("another checkpoint was begun");
    return { ...packRest(state), slices: this.#slicesOf(packing) };
  }

  /** Packs the token before it changes, or nothing if it is `undefined`. */
  keep(token: TokenState | undefined): void {
    if (token) this.#attempt((packing) => packing.keep(token));
  }

  get isPacking(): boolean {
    return this.#packing !== undefined;
  }

  /** Packs what the next second changes without an event; at the end of a minute, all tokens. */
  beforeStep(isMinute: boolean): void {
    this.#attempt((packing) => {
      for (const token of this.#inUse) packing.keep(token);
      this.#inUse = [];
      while (isMinute && packing.keepMore());
    });
  }

  /** Packs about a slice of what is left. Returns whether something is still left. */
  keepMore(): boolean {
    return this.#attempt((packing) => packing.keepMore()) ?? false;
  }

  #attempt<T>(work: (packing: Packing) => T): T | undefined {
    if (!this.#packing) return undefined;
    try {
      return work(this.#packing);
    } catch (error) {
      this.#failure = error;
      this.#packing = undefined;
      return undefined;
    }
  }

  *#slicesOf(packing: Packing): Generator<string, void, void> {
    try {
      for (const slice of packing.slices()) {
        if (this.#packing !== packing) throw this.#failure;
        yield slice;
      }
      if (this.#packing !== packing) throw this.#failure;
    } finally {
      if (this.#packing === packing) this.#packing = undefined;
    }
  }
}

/** Whether a second may change the token without an event of its own. */
function isInUse({ isTouched, flare, followed, shownCandles }: TokenState): boolean {
  return isTouched || flare !== null || followed !== null || shownCandles !== null;
}
