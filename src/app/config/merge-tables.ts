import type { SettingTable } from "../../base/settings/index.ts";

type Intersection<U> = (U extends unknown ? (one: U) => void : never) extends (all: infer All) => void
  ? All
  : never;

/** Returns the settings of all these features in one table, in their order. `F`: their types. */
export function mergeTables<F extends { readonly settings: SettingTable }>(
  features: readonly { readonly settings: SettingTable }[],
): [F] extends [never] ? object : Intersection<F["settings"]> {
  return Object.assign({}, ...features.map(({ settings }) => settings));
}
