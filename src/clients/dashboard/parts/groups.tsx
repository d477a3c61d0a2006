import type { ComponentChildren } from "preact";
import { byForm, GROUP_FACTS, GROUPS, type GroupName } from "../../../base/model/groups.ts";
import { groupHash } from "../route.ts";
import type { Go } from "../state/use-route.ts";
import { Segments } from "./segments.tsx";

/** Classes that hide the columns for which a group has no values. */
export const LACKING = byForm(
  "",
  "lacks-candles lacks-trades lacks-liquidity lacks-profiles",
  "lacks-candles",
);

export interface GroupsProps {
  readonly page: "charts" | "leaderboards";
  /** The only group to show. Default: all. */
  readonly group: GroupName | undefined;
  readonly go: Go;
}

/** A list with a heading for each group, and a choice of the group. */
export function Groups({
  page,
  group: chosen,
  go,
  children,
}: GroupsProps & { readonly children: (group: GroupName) => ComponentChildren }) {
  const choices = [undefined, ...GROUPS];
  return (
    <>
      <Segments
        legend="Group"
        name="group"
        options={choices}
        chosen={chosen}
        onChoose={(group) => go(groupHash(page, group), "push")}
        label={(group) => (group === undefined ? "All" : GROUP_FACTS[group].label)}
      />
      <div class="groups">
        {(chosen === undefined ? GROUPS : [chosen]).map((group) => (
          <section key={group} aria-labelledby={`group-${group}`}>
            <h3 id={`group-${group}`}>{GROUP_FACTS[group].label}</h3>
            {children(group)}
          </section>
        ))}
      </div>
    </>
  );
}
