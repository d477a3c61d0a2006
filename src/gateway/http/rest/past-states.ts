import type { Stamp } from "../../../base/lib/stamped-cache.ts";
import type { Claimant, HeadLike } from "../../hub/index.ts";
import type { ReadyFields } from "./ready-fields.ts";
import type { ResourceBodies } from "./resource-bodies.ts";

/** The state that was served at a full minute. */
export interface PastState {
  readonly atMs: number;
  readonly head: HeadLike;
  readonly bodies: ResourceBodies;
  /**
   * Reads the candles, which `bodies` lacks, and returns bodies with them. Rejects with `time-gone`
   * if they are not stored.
   */
  readonly withCandles: () => Promise<ResourceBodies>;
  /** Header fields of the minute, and of the cursor, age and state of the data at that time. */
  readonly fields: ReadyFields;
  /** The result of {@link now} before the state was read. */
  readonly stamp: string | undefined;
  /** The state may have changed if this returns another text, or `undefined`. */
  readonly now: Stamp;
}

/** Reads past states for the query parameter `at`. */
export interface PastStates {
  /**
   * Returns the state at `at`, rounded down to the minute. Rejects with `invalid-parameter` unless
   * the head's state is later than that minute (T4), `time-gone` if the minute's state is not
   * stored, `not-ready` if the store fails, and `over-capacity` if too many wait.
   */
  read(at: unknown, by: Claimant): Promise<PastState>;
  /**
   * Runs a read of the past when its turn comes. Rejects with its error, or with `over-capacity` if
   * too many wait.
   */
  inTurn<T>(by: Claimant, read: () => Promise<T>): Promise<T>;
}
