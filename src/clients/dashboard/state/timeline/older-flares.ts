import type { GroupName } from "../../../../base/model/groups.ts";
import type { FlareRecord } from "../../../../base/model/index.ts";
import { fetchWithKey } from "../visitor/fetch-with-key.ts";

/** Maximum number of pages to fetch: 600 flares. */
const MAX_PAGES = 3;
const PAGE_SIZE = 200;

/**
 * Fetches the group's stored flares that finished since `fromMs` and not after `to`: the latest
 * 600, newest end first. If the server refuses a page, returns those before it; a server without a
 * history refuses the first. Rejects if a request fails.
 */
export async function fetchOlderFlares(
  server: URL,
  key: string | undefined,
  { group, fromMs, to }: { readonly group: GroupName; readonly fromMs: number; readonly to: string },
  signal: AbortSignal,
): Promise<readonly FlareRecord[]> {
  const records: FlareRecord[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < MAX_PAGES; page++) {
    const url = new URL("api/v1/history", server);
    url.search = new URLSearchParams({
      group,
      from: new Date(fromMs).toISOString(),
      to,
      limit: String(PAGE_SIZE),
      ...(cursor === null ? {} : { cursor }),
    }).toString();
    const response = await fetchWithKey(url, key, signal);
    if (!response.ok) break;
    const { flares, next } = (await response.json()) as {
      readonly flares: readonly FlareRecord[];
      readonly next: string | null;
    };
    records.push(...flares);
    if (next === null) break;
    cursor = next;
  }
  return records;
}
