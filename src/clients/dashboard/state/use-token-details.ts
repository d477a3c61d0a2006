import { useEffect, useState } from "preact/hooks";
import { messageOf } from "../../../base/lib/text/message-of.ts";
import type { GroupName } from "../../../base/model/groups.ts";
import type { TokenDetails } from "../../../base/model/index.ts";
import { useClosedMinute } from "./candles/use-candles.ts";
import { key, server } from "./store.ts";
import { fetchWithKey } from "./visitor/fetch-with-key.ts";

/** What the server has stored about a token. */
export interface Stored {
  /** `undefined` if the server stores nothing about it, or no request succeeded. */
  readonly details: TokenDetails | undefined;
  /**
   * Why the last request failed; `undefined` if it succeeded. After a failure, `details` is from
   * the last request that succeeded.
   */
  readonly problem: string | undefined;
}

/**
 * Fetches a token's facts, candles and flares, again when a minute has ended and when `latest`
 * changes: the id of its newest listed flare. `initial` until the first request has ended.
 */
export function useTokenDetails(
  group: GroupName,
  token: string,
  latest: string | undefined,
  initial?: TokenDetails | undefined,
): Stored | undefined {
  const [stored, setStored] = useState<Stored | undefined>(
    initial && { details: initial, problem: undefined },
  );
  const minute = useClosedMinute();
  useEffect(() => {
    const over = new AbortController();
    const url = new URL(`api/v1/tokens/${group}/${encodeURIComponent(token)}`, server.value);
    fetchDetails(fetchWithKey(url, key.value, over.signal)).then(
      (details) => setStored({ details, problem: undefined }),
      (error: unknown) => {
        const problem = messageOf(error);
        if (!over.signal.aborted) setStored((before) => ({ details: before?.details, problem }));
      },
    );
    return () => over.abort();
  }, [key.value, group, token, minute, latest]);
  return stored;
}

/**
 * Resolves with `undefined` if the server stores nothing about the token. Rejects if it refuses.
 */
async function fetchDetails(responding: Promise<Response>): Promise<TokenDetails | undefined> {
  const response = await responding;
  if (response.status === 404) return undefined;
  if (!response.ok) throw new Error(`the server returned ${response.status}`);
  return (await response.json()) as TokenDetails;
}
