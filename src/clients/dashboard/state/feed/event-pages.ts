import type { EventMessage } from "../../../sdk/index.ts";
import { fetchWithKey } from "../visitor/fetch-with-key.ts";

/** Maximum number of pages to read: 10,000 events. The log of a day usually has fewer. */
const MAX_PAGES = 20;

interface EventPage {
  readonly events: readonly EventMessage[];
  /** Where the next page begins. */
  readonly cursor: string;
  readonly more: boolean;
}

/**
 * Yields the pages of the server's log after a cursor, oldest first, and finally `undefined` if the
 * server refuses one. `chosen`: parameters that select events. Rejects if a request fails.
 */
export async function* eventPages(
  server: URL,
  key: string | undefined,
  signal: AbortSignal,
  { after, ...chosen }: { readonly after: string; readonly names: string; readonly channels?: string },
): AsyncGenerator<EventPage | undefined> {
  let from = after;
  for (let count = 0; count < MAX_PAGES; count++) {
    const url = new URL("api/v1/events", server);
    url.search = new URLSearchParams({ after: from, ...chosen, limit: "500" }).toString();
    const response = await fetchWithKey(url, key, signal);
    const page = response.ok ? ((await response.json()) as EventPage) : undefined;
    yield page;
    if (!page?.more) return;
    from = page.cursor;
  }
}
