import type { View } from "../../client/index.ts";
import { PAGES, type Route } from "../route.ts";

const LABELS = {
  flares: "Flares",
  newest: "Newest",
  charts: "Charts",
  leaderboards: "Leaderboards",
  events: "Events",
  record: "Record",
} as const;

/** Tells the tabs and the entries of the browser's history apart. */
export function pageTitle({ page }: Route): string {
  if (page === "flares") return "Flarewire";
  return `${page === "token" ? "Token" : LABELS[page]} – Flarewire`;
}

interface NavigationProps {
  readonly route: Route;
  readonly view: View | undefined;
  /** False if the source cannot know of new listings. */
  readonly hasListings: boolean;
}

export function Navigation({ route, view, hasListings }: NavigationProps) {
  const flaring = view?.flares?.pro ?? view?.flares?.free;
  // Reserve their space before they are known, so that nothing moves.
  const counts: Partial<Record<string, number | string>> = {
    flares: flaring?.length ?? "",
    newest: view?.newest?.bsc?.length ?? "",
  };
  return (
    <nav aria-label="Pages">
      {PAGES.filter((page) => hasListings || page !== "newest").map((page) => (
        <a key={page} href={`#/${page}`} aria-current={route.page === page ? "page" : undefined}>
          {LABELS[page]}
          {counts[page] !== undefined && <small class="count">{counts[page]}</small>}
        </a>
      ))}
    </nav>
  );
}
