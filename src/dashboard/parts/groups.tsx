import type { ComponentChildren } from "preact";
import { GROUP_LABELS, GROUP_NAMES, type GroupName } from "../text/group-labels.ts";

/** A list per group, with a heading each. `name` makes the headings' ids unique. */
export function Groups({
  name,
  children,
}: {
  readonly name: string;
  readonly children: (group: GroupName) => ComponentChildren;
}) {
  return (
    <div class="groups">
      {GROUP_NAMES.map((group) => (
        <section key={group} aria-labelledby={`${name}-${group}`}>
          <h3 id={`${name}-${group}`}>{GROUP_LABELS[group]}</h3>
          {children(group)}
        </section>
      ))}
    </div>
  );
}
