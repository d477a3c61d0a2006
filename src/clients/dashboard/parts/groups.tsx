import { byForm, GROUP_FACTS, GROUPS, type GroupName } from "../../../base/model/groups.ts";
import { Segments } from "./segments.tsx";

/** Classes that hide what a group has no values for. */
export const LACKING = byForm(
  "",
  "lacks-candles lacks-trades lacks-liquidity lacks-profiles",
  "lacks-candles",
);

interface GroupsProps<G> {
  readonly options: readonly G[];
  readonly chosen: G;
  readonly onChoose: (group: G) => void;
}

/** The choice of a group, or with `undefined` of all. */
export function Groups<G extends GroupName | undefined>({ options, chosen, onChoose }: GroupsProps<G>) {
  return (
    <Segments
      legend="Group"
      name="group"
      options={options}
      chosen={chosen}
      onChoose={onChoose}
      label={(group) => (group === undefined ? "All" : GROUP_FACTS[group].label)}
    />
  );
}

/** All groups, and the choice of all together. */
export const ALL_GROUPS = [undefined, ...GROUPS] as const;
