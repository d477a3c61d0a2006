import { useEffect, useState } from "preact/hooks";
import { MINUTE_MS } from "../../../../base/lib/time/time.ts";
import type { GroupName } from "../../../../base/model/groups.ts";
import { key, server } from "../store.ts";
import { fetchWithKey } from "../visitor/fetch-with-key.ts";
import { type StoredSince, storedSince } from "./stored-since.ts";

/** A response this old is nearly right, because the oldest minutes expire one by one. */
const KNOWN_MS = 10 * MINUTE_MS;

/**
 * Returns since when the server has past minutes. Asks again every ten minutes, and every minute
 * while that is unknown or there are none. A failed request changes nothing.
 */
export function useStoredMinutes(group: GroupName, nowMs: number): StoredSince {
  const [since, setSince] = useState<StoredSince>();
  const period = Math.floor(nowMs / (typeof since === "number" ? KNOWN_MS : MINUTE_MS));
  useEffect(() => setSince(undefined), [key.value, group]);
  useEffect(() => {
    const over = new AbortController();
    // Asks the history, because a request for a minute that is not stored would log an error in the
    // browser's console.
    const url = new URL(`api/v1/history?group=${group}&limit=1`, server.value);
    fetchWithKey(url, key.value, AbortSignal.any([over.signal, AbortSignal.timeout(10_000)]), "HEAD").then(
      ({ ok, headers }) => ok && setSince(storedSince(headers)),
      () => {},
    );
    return () => over.abort();
  }, [key.value, group, period]);
  return since;
}
