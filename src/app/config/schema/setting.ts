import type { Kind } from "./kinds.ts";

/** The market to serve. `shipped`: this repository's recorded day; `own`: a user's. */
export const MARKETS = ["simulated", "shipped", "own", "exchange", "chain", "live"] as const;
export type Market = (typeof MARKETS)[number];

type Default = string | undefined | ((market: Market) => string | undefined);

/** One setting. `flagOf` and `variableOf` derive flag and variable from its name. */
export interface Setting<T = unknown, F extends string = string, D extends Default = Default>
  extends Kind<T> {
  /** Its field of the Config, with the unit. */
  readonly field: F;
  /** As the user would write it, by market if it differs. `undefined`: not set. */
  readonly default: D;
  /** The default in words, if the value alone, or `none` without one, would be unclear. */
  readonly defaultText?: string;
  /** A valid value other than the default. */
  readonly example: string;
  /** The meaning, without its final period. */
  readonly description: string;
}

/** Combines a kind with the other facts of a setting. */
export function setting<T, const F extends string, D extends Default>(
  field: F,
  kind: Kind<T>,
  rest: Omit<Setting<T, F>, "field" | "default" | keyof Kind<T>> & { readonly default: D },
): Setting<T, F, D> {
  return { field, ...kind, ...rest };
}
