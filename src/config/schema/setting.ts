import type { Kind } from "./kinds.ts";

/** Which market is served: the simulated one, the recorded day that ships with the project, the user's own recording, the exchanges' own, a chain's, or all live ones. */
export type Market = "simulated" | "shipped" | "own" | "exchange" | "chain" | "live";

/** One thing that can be set. Its flag, variable and file key follow from its name: see `flagOf` and `variableOf`. */
export interface Setting<T = unknown, F extends string = string> extends Kind<T> {
  /** The field of the Config that holds the value, with its unit. */
  readonly field: F;
  /** As the user would write it; `undefined`: not set. By market where it depends on which one is served. */
  readonly default: string | undefined | Readonly<Record<Market, string | undefined>>;
  /** The default in the words of the documents, where the value itself would not tell. */
  readonly defaultText?: string;
  /** A good value that is not the default. */
  readonly example: string;
  /** What it means, as a sentence without its full stop. */
  readonly description: string;
}

/** A setting out of its kind and the rest. */
export function setting<T, const F extends string>(
  field: F,
  kind: Kind<T>,
  rest: Omit<Setting<T, F>, "field" | keyof Kind<T>>,
): Setting<T, F> {
  return { field, ...kind, ...rest };
}
