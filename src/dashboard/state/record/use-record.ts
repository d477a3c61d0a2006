import { useContext, useEffect, useState } from "preact/hooks";
import type { RecordWindow, TrackRecord } from "../../../model/index.ts";
import { NowS } from "../../parts/flare/age.tsx";
import { fetchWithKey } from "../visitor/fetch-with-key.ts";

/** The last record that the server returned, and why the latest request failed. */
export interface FetchedRecord {
  readonly record: TrackRecord | undefined;
  readonly failure: string | undefined;
}

/** Fetches the track record, and again after each minute: the server updates it then. */
export function useRecord(server: URL, key: string | undefined, window: RecordWindow): FetchedRecord {
  const [fetched, setFetched] = useState<FetchedRecord>({ record: undefined, failure: undefined });
  const minute = Math.floor(useContext(NowS) / 60);
  useEffect(() => {
    const over = new AbortController();
    fetchRecord(server, key, window, over.signal).then(
      (record) => setFetched({ record, failure: undefined }),
      (error: unknown) => {
        if (over.signal.aborted) return;
        const failure = error instanceof Error ? error.message : String(error);
        setFetched(({ record }) => ({ record, failure }));
      },
    );
    return () => over.abort();
  }, [server.href, key, window, minute]);
  return fetched;
}

async function fetchRecord(
  server: URL,
  key: string | undefined,
  window: RecordWindow,
  signal: AbortSignal,
): Promise<TrackRecord> {
  const url = new URL(`api/v1/record?window=${window}`, server);
  const response = await fetchWithKey(url, key, signal);
  if (response.status === 404) throw new Error("this server stores no finished flares");
  if (!response.ok) throw new Error(`the server responded ${response.status}`);
  return (await response.json()) as TrackRecord;
}
