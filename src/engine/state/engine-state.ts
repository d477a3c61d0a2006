import { MINUTE_MS } from "../../base/lib/time/time.ts";
import type { MarketEvent } from "../../base/market/index.ts";
import { CANDLE_MINUTES } from "../../base/model/index.ts";
import type { LaunchSums } from "../detect/launches.ts";
import type { Markets } from "../detect/market.ts";
import { compactRing } from "../views/candle-ring.ts";
import type { FinishedFlare } from "../views/group-flares.ts";
import type { NewListing } from "../views/newest-listings.ts";
import type { ServedRankings } from "../views/rankings.ts";
import type { Rejections } from "./rejection.ts";
import type { TokenProfile } from "./token-profile.ts";
import type { TokenState } from "./token-state.ts";

/**
 * Increase it whenever the meaning of {@link EngineState} changes, and let what reads stored states
 * convert the version before.
 */
export const STATE_VERSION = 21;

/** An engine's complete state: plain data, maps and typed arrays. An engine with it continues. */
export interface EngineState {
  readonly clockMs: number;
  readonly stepMs: number;
  readonly nextMinuteMs: number;
  readonly hasClock: boolean;
  readonly rejected: Rejections;
  /** By group, each in the order in which they were first seen. */
  readonly tokens: readonly TokenState[];
  readonly profiles: ReadonlyMap<string, TokenProfile>;
  readonly priors: Map<string, { events: number; timeMs: number; atMs: number }>;
  readonly launches: Map<string, LaunchSums>;
  readonly markets: Markets;
  readonly finished: FinishedFlare[];
  readonly newest: NewListing[];
  readonly standings: ServedRankings;
  /** Events that wait for the first clock event. */
  readonly waiting: readonly MarketEvent[];
  /** The state of the book of odds; absent without one. */
  readonly odds?: unknown;
}

/** Learns of changes to an engine's tokens in advance. */
export interface StateWatcher {
  /** Called before the engine changes the tokens. Must not throw. */
  beforeChange(tokens: Iterable<TokenState>): void;
}

/** Whether a second may change the token without an event of its own. */
export function isInUse({ isTouched, flare, followed, shownCandles }: TokenState): boolean {
  return isTouched || flare !== null || followed !== null || shownCandles !== null;
}

/** Returns a token of this time as it is worth storing: without space and old candles. */
export function compactToken(token: TokenState, clockMs: number): TokenState {
  const { candles } = token;
  const from = Math.floor(clockMs / MINUTE_MS) - CANDLE_MINUTES;
  return candles ? { ...token, candles: compactRing(candles, from) } : token;
}
