import type { MarketEvent } from "../../market/index.ts";
import type { Markets } from "../detect/detector.ts";
import type { FinishedFlare } from "../views/flares.ts";
import type { NewListing } from "../views/newest.ts";
import type { ServedStandings } from "../views/rankings.ts";
import type { Rejections } from "./rejection.ts";
import { decodeState, encodeState, type JsonValue } from "./state-codec.ts";
import type { TokenProfile } from "./token-profile.ts";
import type { TokenState } from "./token-state.ts";

/** Raised whenever {@link EngineState} changes its meaning: an older checkpoint is then refused, not misread. */
const VERSION = 8;

/** The whole of an engine: a plain JSON value. Engines restored from it go on as if nothing had happened, to the byte. */
export interface EngineCheckpoint {
  readonly version: number;
  readonly state: JsonValue;
}

/** What an engine holds, as plain data. */
export interface EngineState {
  readonly clockMs: number;
  readonly stepMs: number;
  readonly nextMinuteMs: number;
  readonly hasClock: boolean;
  readonly rejected: Rejections;
  /** In order of first sighting within each group. */
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

/** An engine's state as a checkpoint. */
export function packEngine(state: EngineState): EngineCheckpoint {
  return { version: VERSION, state: encodeState(state) };
}

/** The state in a checkpoint. Throws RangeError for one of another version, TypeError for one that is damaged. */
export function unpackEngine(checkpoint: EngineCheckpoint): EngineState {
  if (checkpoint.version !== VERSION) {
    throw new RangeError(
      `the checkpoint has version ${checkpoint.version}; this engine reads version ${VERSION}`,
    );
  }
  const state = decodeState(checkpoint.state);
  if (typeof state !== "object" || state === null || !("tokens" in state) || !Array.isArray(state.tokens)) {
    throw new TypeError("the checkpoint holds no engine's state");
  }
  return state as EngineState;
}
