import type { ComponentChildren } from "preact";
import { groupHash } from "../route.ts";
import type { Go } from "../state/use-route.ts";
import { GROUP_LABELS, GROUP_NAMES, type GroupName } from "../text/group-labels.ts";

export interface GroupsProps {
  readonly page: "charts" | "leaderboards";
  /** The only group to show; all without. */
  readonly group: GroupName | undefined;
  readonly go: Go;
}

/** A list per group, with a heading each, and a choice of the group. */
export function Groups({
  page,
  group: chosen,
  go,
  children,
}: GroupsProps & { readonly children: (group: GroupName) => ComponentChildren }) {
  const choices = [undefined, ...GROUP_NAMES];
  return (
    <>
      <fieldset class="segments">
        <legend class="unseen">Group</legend>
        {choices.map((group) => (
          <label key={group ?? "all"}>
            <input
              type="radio"
              name="group"
              checked={group === chosen}
              onChange={() => go(groupHash(page, group), "push")}
            />
            <span>{group === undefined ? "All" : GROUP_LABELS[group]}</span>
          </label>
        ))}
      </fieldset>
      <div class="groups">
        {(chosen === undefined ? GROUP_NAMES : [chosen]).map((group) => (
          <section key={group} aria-labelledby={`group-${group}`}>
            <h3 id={`group-${group}`}>{GROUP_LABELS[group]}</h3>
            {children(group)}
          </section>
        ))}
      </div>
    </>
  );
}
