import type { z } from "zod";
import type { Kind } from "./kinds.ts";

type Default = string | undefined;

/** One setting. Its flag and its environment variable follow from its name. */
export interface Setting<T = unknown, F extends string = string, D extends Default = Default>
  extends Kind<T> {
  /** Its field of the Config, with the unit. */
  readonly field: F;
  /** As the user would write it. Some markets have another. `undefined`: not set. */
  readonly default: D;
  /** The default in words, if the value alone, or `none` without one, would be unclear. */
  readonly defaultText?: string;
  /** A valid value other than the default. */
  readonly example: string;
  /** The meaning, without its final period. */
  readonly description: string;
}

/** Settings by name. Each part of the program declares a table of its own. */
export type SettingTable = Readonly<Record<string, Setting>>;

/**
 * The values of a table's settings by field. Durations are in milliseconds, sizes in bytes. A limit
 * of `none` is Infinity. A setting without a value is `undefined`.
 */
export type SettingsOf<T extends SettingTable> = {
  readonly [N in keyof T as T[N]["field"]]: z.output<T[N]["schema"]> | Extract<T[N]["default"], undefined>;
};

/** Combines a kind with the other facts of a setting. */
export function setting<T, const F extends string, D extends Default>(
  field: F,
  kind: Kind<T>,
  rest: Omit<Setting<T, F>, "field" | "default" | keyof Kind<T>> & { readonly default: D },
): Setting<T, F, D> {
  return { field, ...kind, ...rest };
}

/** `pollInterval` → `poll-interval`. */
export function flagOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
