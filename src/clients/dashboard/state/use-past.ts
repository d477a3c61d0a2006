import { useEffect, useState } from "preact/hooks";
import type { GroupName } from "../../../base/model/groups.ts";
import type { FlareLists } from "./group/flare-lists.ts";
import { key, server } from "./store.ts";
import { fetchWithKey } from "./visitor/fetch-with-key.ts";

const NOT_STORED =
  "The server stores nothing for this minute: it was not running, had no data, or has deleted it.";

/** The lists of a group as they were at a past minute. */
export interface Past {
  readonly at: string;
  readonly view: FlareLists;
  readonly observedAt: string;
}

/**
 * Fetches the lists of a past minute. Returns `undefined` before the response and without `at`, and
 * an Error if the lists are not stored or the request failed. When `at` changes, the first
 * rendering still gets the earlier result.
 */
export function usePast(group: GroupName, at: string | undefined): Past | Error | undefined {
  const [past, setPast] = useState<Past | Error>();
  useEffect(() => {
    setPast(undefined);
    if (at === undefined) return;
    const over = new AbortController();
    const url = new URL(`api/v1/snapshot?group=${group}&at=${encodeURIComponent(at)}`, server.value);
    fetchPast(fetchWithKey(url, key.value, over.signal), at).then(setPast, (error: unknown) => {
      if (!over.signal.aborted) setPast(error instanceof Error ? error : new Error(String(error)));
    });
    return () => over.abort();
  }, [key.value, group, at]);
  return past;
}

async function fetchPast(responding: Promise<Response>, at: string): Promise<Past> {
  const response = await responding;
  if (response.status === 410) throw new Error(NOT_STORED);
  const body = (await response.json()) as FlareLists & {
    readonly observed_at: string;
    readonly detail?: string;
  };
  if (!response.ok) throw new Error(body.detail ?? `the server returned ${response.status}`);
  return { at, view: body, observedAt: body.observed_at };
}
