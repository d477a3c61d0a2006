import { byForm, CHAIN_GROUPS, GROUP_FACTS, GROUPS, type GroupName } from "../../../base/model/groups.ts";
import { knownGroups } from "../state/store.ts";
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
  const known = knownGroups.value.split(",");
  return (
    <Segments
      legend="Group"
      name="group"
      options={options.filter((group) => group === undefined || group === chosen || known.includes(group))}
      chosen={chosen}
      onChoose={onChoose}
      label={groupLabel}
    />
  );
}

/** Returns a group's name in a choice: exchanges are no chain, but a kind of market. */
export function groupLabel(group: GroupName | undefined): string {
  if (group === undefined) return "All";
  return GROUP_FACTS[group].kind === "exchange" ? "Exchanges" : GROUP_FACTS[group].label;
}

/** The groups in the order of a choice: the chains, and apart from them the exchanges. */
export const CHOICES = [...CHAIN_GROUPS, ...GROUPS.filter((group) => GROUP_FACTS[group].kind === "exchange")];

/** All groups, and the choice of all together. */
export const ALL_GROUPS = [undefined, ...CHOICES] as const;
