import { useEffect, useState } from "preact/hooks";
import { messageOf } from "../../../base/lib/text/message-of.ts";
import { MINUTE_MS } from "../../../base/lib/time/time.ts";
import type { TrackRecord } from "../../../base/model/index.ts";
import type { RecordChoice } from "../route.ts";
import { key, server, useNow } from "./store.ts";
import { fetchWithKey } from "./visitor/fetch-with-key.ts";

interface FetchedRecord {
  /** The last one fetched, maybe for an earlier choice; `undefined` before the first. */
  readonly record: TrackRecord | undefined;
  /** Why the last request failed; `undefined` if it succeeded or none has ended. */
  readonly failure: string | undefined;
}

/** Fetches the chosen track record, and again each minute, because the server updates it then. */
export function useRecord({ group, window }: RecordChoice): FetchedRecord {
  const [fetched, setFetched] = useState<FetchedRecord>({ record: undefined, failure: undefined });
  const minute = useNow((ms) => Math.floor(ms / MINUTE_MS));
  useEffect(() => {
    const over = new AbortController();
    fetchRecord({ group, window }, over.signal).then(
      (record) => setFetched({ record, failure: undefined }),
      (error: unknown) => {
        if (over.signal.aborted) return;
        const failure = messageOf(error);
        setFetched(({ record }) => ({ record, failure }));
      },
    );
    return () => over.abort();
  }, [key.value, group, window, minute]);
  return fetched;
}

async function fetchRecord({ group, window }: RecordChoice, signal: AbortSignal): Promise<TrackRecord> {
  const url = new URL(`api/v1/record?group=${group}&window=${window}`, server.value);
  const response = await fetchWithKey(url, key.value, signal);
  if (response.status === 404) throw new Error("this server stores no finished flares");
  if (!response.ok) throw new Error(`the server returned ${response.status}`);
  return (await response.json()) as TrackRecord;
}
