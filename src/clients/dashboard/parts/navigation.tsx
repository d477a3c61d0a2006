import { useComputed } from "@preact/signals";
import { GROUP_FACTS } from "../../../base/model/groups.ts";
import { PAGES, type Route } from "../route.ts";
import { listsOf } from "../state/store.ts";
import { route, shownGroup } from "../state/use-route.ts";

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

/** The six places: in the header or, on a phone, at the bottom of the screen. */
export function Navigation() {
  const group = shownGroup.value;
  const running = useComputed(() => {
    const lists = listsOf(shownGroup.value);
    const flares = lists instanceof Error ? undefined : lists?.flares;
    return (flares?.pro ?? flares?.free)?.length;
  });
  return (
    <nav class="places-bar" aria-label="Pages">
      {PAGES.map((page) => (
        <a key={page} href={`#/${page}`} aria-current={route.value.page === page ? "page" : undefined}>
          {LABELS[page]}
          {page === "now" && (
            <small class="count" title={`flaring now: ${GROUP_FACTS[group].label}`}>
              {/* Its room is reserved before it is known, so that nothing moves. */}
              {running.value ?? ""}
            </small>
          )}
        </a>
      ))}
    </nav>
  );
}
