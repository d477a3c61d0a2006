import type { MarketEvent } from "../../market/index.ts";
import type { Markets } from "../detect/detector.ts";
import type { FinishedFlare } from "../views/flares.ts";
import type { NewListing } from "../views/newest.ts";
import type { ServedStandings } from "../views/rankings.ts";
import type { Rejections } from "./rejection.ts";
import { decodeState, encodeState, type JsonValue } from "./state-codec.ts";
import type { TokenProfile } from "./token-profile.ts";
import type { TokenState } from "./token-state.ts";

/** Increase it with any change of {@link EngineState}'s meaning: rejects older checkpoints. */
const VERSION = 13;

/** An engine's complete state as a plain JSON value. A restored engine continues identically. */
export interface EngineCheckpoint {
  readonly version: number;
  readonly state: JsonValue;
}

export interface EngineState {
  readonly clockMs: number;
  readonly stepMs: number;
  readonly nextMinuteMs: number;
  readonly hasClock: boolean;
  readonly rejected: Rejections;
  /** In the order in which they were first seen, by group. */
  readonly tokens: readonly TokenState[];
  readonly profiles: Map<string, TokenProfile>;
  readonly priors: Map<string, { events: number; timeMs: number; atMs: number }>;
  readonly markets: Markets;
  readonly finished: FinishedFlare[];
  readonly newest: NewListing[];
  readonly standings: ServedStandings;
  /** Events that wait for the first clock. */
  readonly waiting: readonly MarketEvent[];
}

export function packEngine(state: EngineState): EngineCheckpoint {
  return { version: VERSION, state: encodeState(state) };
}

/** Returns a checkpoint's state. Throws RangeError for its version, TypeError for damage. */
export function unpackEngine(checkpoint: EngineCheckpoint): EngineState {
  if (checkpoint.version !== VERSION) {
    throw new RangeError(`unsupported checkpoint version ${checkpoint.version}; expected version ${VERSION}`);
  }
  const state = decodeState(checkpoint.state);
  if (typeof state !== "object" || state === null || !("tokens" in state) || !Array.isArray(state.tokens)) {
    throw new TypeError("invalid checkpoint: no engine state");
  }
  const unpacked = state as EngineState;
  for (const token of unpacked.tokens) addMissing(token);
  return unpacked;
}

/** Adds what older checkpoints of this version lack. Candles of the past stay unknown. */
function addMissing(token: TokenState): void {
  token.candles ??= null;
  token.shownCandles ??= token.flare ? { untilMs: 0, list: [] } : null;
  if (token.candle) token.candle.netBought ??= 0;
  if (token.candleBefore) token.candleBefore.netBought ??= 0;
}
