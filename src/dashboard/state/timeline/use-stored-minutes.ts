import { useEffect, useRef, useState } from "preact/hooks";
import type { GroupName } from "../../../lib/text/group-labels.ts";
import { fetchWithKey } from "../visitor/fetch-with-key.ts";
import { type StoredSince, storedSince } from "./stored-since.ts";

/**
 * Returns since when the server stores past minutes, if that is later than `fromMs`, and a
 * function that requests it. Call it only when a visitor reaches for the slider, because a minute
 * that is not stored appears as an error in the browser's console.
 */
export function useStoredMinutes(
  server: URL,
  key: string | undefined,
  group: GroupName,
  fromMs: number,
): readonly [StoredSince, () => void] {
  const [since, setSince] = useState<StoredSince>();
  const asked = useRef(Number.POSITIVE_INFINITY);
  useEffect(() => {
    asked.current = Number.POSITIVE_INFINITY;
    setSince(undefined);
  }, [server.href, key, group]);
  const ask = () => {
    // Later minutes are stored if an earlier one is.
    if (since !== "none" && asked.current <= fromMs) return;
    asked.current = fromMs;
    const at = encodeURIComponent(new Date(fromMs).toISOString());
    const url = new URL(`api/v1/flares?group=${group}&at=${at}`, server);
    fetchWithKey(url, key, AbortSignal.timeout(10_000))
      .then(async (response) => setSince(storedSince(response.status, await response.json())))
      .catch(() => {
        asked.current = Number.POSITIVE_INFINITY;
      });
  };
  return [since, ask];
}
