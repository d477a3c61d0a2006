import type { Kind } from "./kinds.ts";

/** The market to serve. `shipped`: this repository's recorded day; `own`: a user's. */
export type Market = "simulated" | "shipped" | "own" | "exchange" | "chain" | "live";

/** One setting. `flagOf` and `variableOf` derive flag and variable from its name. */
export interface Setting<T = unknown, F extends string = string> extends Kind<T> {
  /** Its field of the Config, with the unit. */
  readonly field: F;
  /** As the user would write it, by market if it differs. `undefined`: not set. */
  readonly default: string | undefined | Readonly<Record<Market, string | undefined>>;
  /** The default in words, if the value alone would be unclear. */
  readonly defaultText?: string;
  /** A valid value other than the default. */
  readonly example: string;
  /** The meaning, without its final period. */
  readonly description: string;
}

/** Combines a kind with the other facts of a setting. */
export function setting<T, const F extends string>(
  field: F,
  kind: Kind<T>,
  rest: Omit<Setting<T, F>, "field" | keyof Kind<T>>,
): Setting<T, F> {
  return { field, ...kind, ...rest };
}
