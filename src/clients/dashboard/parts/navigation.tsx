import { GROUP_FACTS, type GroupName } from "../../../base/model/groups.ts";
import type { View } from "../../sdk/index.ts";
import { PAGES, type Route } from "../route.ts";
import type { FlareLists } from "../state/group/flare-lists.ts";

const LABELS = {
  flares: "Flares",
  newest: "Newest",
  charts: "Charts",
  leaderboards: "Leaderboards",
  events: "Events",
  record: "Record",
} as const;

/**
 * Returns a title that identifies the page in tabs and in the browser's history; `undefined` for a
 * token's page, which sets its own.
 */
export function pageTitle({ page }: Route): string | undefined {
  if (page === "flares") return "Flarewire";
  return page === "token" ? undefined : `${LABELS[page]} – Flarewire`;
}

interface NavigationProps {
  readonly route: Route;
  readonly view: View | undefined;
  /** The flares of the group that the page shows; `undefined` before they are known. */
  readonly lists: FlareLists | Error | undefined;
  readonly group: GroupName;
  /** False if the source cannot know of new listings. */
  readonly hasListings: boolean;
}

export function Navigation({ route, view, lists, group, hasListings }: NavigationProps) {
  const flares = lists instanceof Error ? undefined : lists?.flares;
  const flaring = flares?.pro ?? flares?.free;
  // Reserve space for the counts before they are known, so that nothing moves.
  const counts: Partial<Record<string, number | string>> = {
    flares: flaring?.length ?? "",
    newest: view?.newest?.bsc?.length ?? "",
  };
  return (
    <nav aria-label="Pages">
      {PAGES.filter((page) => hasListings || page !== "newest").map((page) => (
        <a key={page} href={`#/${page}`} aria-current={route.page === page ? "page" : undefined}>
          {LABELS[page]}
          {counts[page] !== undefined && (
            <small
              class="count"
              title={page === "flares" ? `flaring now: ${GROUP_FACTS[group].label}` : undefined}
            >
              {counts[page]}
            </small>
          )}
        </a>
      ))}
    </nav>
  );
}
