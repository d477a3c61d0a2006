import { type EngineState, STATE_VERSION, TrendEngine } from "../../engine/index.ts";
import { READABLE_VERSIONS, upgradeState } from "./earlier-states.ts";
import { decodeState, encodeState, type JsonValue } from "./state-codec.ts";
import { Packing, unpackSlices } from "./state-packing.ts";

/** An engine's complete state as plain JSON values. A restored engine continues identically. */
export interface EngineCheckpoint {
  readonly version: number;
  /** The state without the tokens and profiles in {@link slices}. */
  readonly state: JsonValue;
  /**
   * The tokens and profiles, some in each JSON text: all in one would exceed the longest string.
   * Absent in a checkpoint of an earlier release, whose state has them.
   */
  readonly slices?: Iterable<string>;
}

/** Packs an engine's state while the engine continues. A failure only ends the slices. */
export class EngineCheckpoints {
  readonly #engine: Pick<TrendEngine, "state" | "watch">;
  #packing: Packing | undefined;
  /** When the minute of the begun checkpoint ends, which changes all tokens. */
  #minuteEndMs = 0;
  #failure: unknown;

  constructor(engine: Pick<TrendEngine, "state" | "watch">) {
    this.#engine = engine;
  }

  /**
   * Begins a checkpoint of the present state. Its slices are packed as they are read. Ending their
   * iteration early, or beginning another checkpoint, abandons it.
   */
  begin(): EngineCheckpoint & { readonly slices: Iterable<string> } {
    const state = this.#engine.state();
    const packing = new Packing(state);
    this.#packing = packing;
    this.#minuteEndMs = state.nextMinuteMs;
    this.#failure = new Error("another checkpoint was begun");
    this.#engine.watch({
      beforeChange: (tokens) =>
        this.#attempt(() => {
          for (const token of tokens) packing.keep(token);
        }),
    });
    return { ...packRest(state), slices: this.#slicesOf(packing) };
  }

  /**
   * Packs a slice of the begun checkpoint if the event ends a minute, which changes all tokens.
   * Returns whether more is left, which the engine's `accept` would have packed at once.
   */
  packBefore({ at }: { readonly at: number }): boolean {
    return at >= this.#minuteEndMs && (this.#attempt((packing) => packing.keepMore()) ?? false);
  }

  #attempt<T>(work: (packing: Packing) => T): T | undefined {
    if (!this.#packing) return undefined;
    try {
      return work(this.#packing);
    } catch (error) {
      this.#failure = error;
      this.#end();
      return undefined;
    }
  }

  #end(): void {
    this.#packing = undefined;
    this.#engine.watch(undefined);
  }

  *#slicesOf(packing: Packing): Generator<string, void, void> {
    try {
      for (const slice of packing.slices()) {
        if (this.#packing !== packing) throw this.#failure;
        yield slice;
      }
      if (this.#packing !== packing) throw this.#failure;
    } finally {
      if (this.#packing === packing) this.#end();
    }
  }
}

/** Returns the engine's complete state, which shares nothing with the engine. */
export function checkpointOf(engine: TrendEngine): EngineCheckpoint & { readonly slices: readonly string[] } {
  const state = engine.state();
  return { ...packRest(state), slices: [...new Packing(state).slices()] };
}

/** Continues from a checkpoint with equal `options`. Throws as {@link unpackEngine} does. */
export function restoreEngine(
  checkpoint: EngineCheckpoint,
  options?: ConstructorParameters<typeof TrendEngine>[0],
): TrendEngine {
  return new TrendEngine(options, unpackEngine(checkpoint));
}

/**
 * Returns a checkpoint's state. Throws RangeError if the version is unsupported, and TypeError if
 * the state is malformed or slices are missing. Does not check every field.
 */
export function unpackEngine({ version, state: json, slices = [] }: EngineCheckpoint): EngineState {
  if (!READABLE_VERSIONS.includes(version)) {
    const expected = READABLE_VERSIONS.join(", ");
    throw new RangeError(`unsupported checkpoint version ${version}; expected one of ${expected}`);
  }
  const state = decodeState(json);
  if (typeof state !== "object" || state === null || !("markets" in state))
    throw new TypeError("invalid checkpoint: no engine state");
  return upgradeState(version, "counts" in state ? withSlices(state, slices) : (state as EngineState));
}

/** Packs everything but the tokens and profiles, which go into slices. */
function packRest({ tokens, profiles, ...rest }: EngineState): Required<Omit<EngineCheckpoint, "slices">> {
  const counts = { tokens: tokens.length, profiles: profiles.size };
  return { version: STATE_VERSION, state: encodeState({ ...rest, counts }) };
}

function withSlices(rest: object & { readonly counts: unknown }, slices: Iterable<string>): EngineState {
  const { counts, ...state } = rest as EngineState & {
    readonly counts: { tokens: number; profiles: number };
  };
  const found = unpackSlices(slices);
  const count = Object.keys(found.tokens).length;
  if (count !== counts.tokens || found.profiles.size !== counts.profiles)
    throw new TypeError(`invalid checkpoint: ${count} of ${counts.tokens} tokens`);
  return { ...state, ...found };
}
