import { GROUP_FACTS, type GroupName } from "../../../base/model/groups.ts";
import { PAGES, type Route } from "../route.ts";
import type { FlareLists } from "../state/group/flare-lists.ts";

const LABELS = {
  now: "Now",
  finished: "Finished",
  markets: "Markets",
  feed: "Feed",
  record: "Record",
  developers: "Developers",
} as const satisfies Record<(typeof PAGES)[number], string>;

/**
 * Returns a title that identifies the page in tabs and in the browser's history; `undefined` for a
 * token's page, which sets its own.
 */
export function pageTitle({ page }: Route): string | undefined {
  if (page === "now") return "Flarewire";
  return page === "token" ? undefined : `${LABELS[page]} – Flarewire`;
}

interface NavigationProps {
  readonly route: Route;
  /** The flares of the group that the page shows; `undefined` before they are known. */
  readonly lists: FlareLists | Error | undefined;
  readonly group: GroupName;
}

/** The six places: in the header or, on a phone, at the bottom of the screen. */
export function Navigation({ route, lists, group }: NavigationProps) {
  const flares = lists instanceof Error ? undefined : lists?.flares;
  const flaring = flares?.pro ?? flares?.free;
  return (
    <nav class="places-bar" aria-label="Pages">
      {PAGES.map((page) => (
        <a key={page} href={`#/${page}`} aria-current={route.page === page ? "page" : undefined}>
          {LABELS[page]}
          {page === "now" && (
            <small class="count" title={`flaring now: ${GROUP_FACTS[group].label}`}>
              {/* Its room is reserved before it is known, so that nothing moves. */}
              {flaring?.length ?? ""}
            </small>
          )}
        </a>
      ))}
    </nav>
  );
}
