import { createContext } from "preact";
import { useContext } from "preact/hooks";
import {
  byForm,
  CHAIN_GROUPS,
  GROUP_FACTS,
  GROUPS,
  type GroupName,
  isAdditional,
} from "../../../base/model/groups.ts";
import type { View } from "../../sdk/index.ts";
import { Segments } from "./segments.tsx";

/** Classes that hide what a group has no values for. */
export const LACKING = byForm(
  "",
  "lacks-candles lacks-trades lacks-liquidity lacks-profiles",
  "lacks-candles",
);

/** The groups that the server has tokens of, as far as its lists tell, joined with commas. */
export const KnownGroups = createContext(GROUPS.join());

/** Returns the groups to offer: additional ones only while their lists have a token. */
export function knownGroups({ charts, leaderboards }: Pick<View, "charts" | "leaderboards">): string {
  const hasToken = (group: GroupName): boolean =>
    [charts?.[group], leaderboards?.[group]].some((list) => (list?.length ?? 0) > 0);
  return GROUPS.filter((group) => !isAdditional(group) || hasToken(group)).join();
}

interface GroupsProps<G> {
  readonly options: readonly G[];
  readonly chosen: G;
  readonly onChoose: (group: G) => void;
}

/** The choice of a group, or with `undefined` of all. */
export function Groups<G extends GroupName | undefined>({ options, chosen, onChoose }: GroupsProps<G>) {
  const known = useContext(KnownGroups).split(",");
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
