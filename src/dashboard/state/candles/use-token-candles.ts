import { useContext, useEffect, useState } from "preact/hooks";
import { NowS } from "../../parts/flare/age.tsx";
import { fetchWithKey } from "../visitor/fetch-with-key.ts";
import type { StoredCandle } from "./ranges.ts";
import { CLOSES_LATE_S } from "./use-candles.ts";

/**
 * Fetches a token's minutes of the last 24 hours around its flares, again when a minute has ended.
 * `undefined` before the first response; empty if the server has none.
 */
export function useTokenCandles(
  server: URL,
  key: string | undefined,
  address: string,
): readonly StoredCandle[] | undefined {
  const [candles, setCandles] = useState<readonly StoredCandle[]>();
  const minute = Math.floor((useContext(NowS) - CLOSES_LATE_S) / 60);
  useEffect(() => {
    const over = new AbortController();
    const url = new URL(`api/v1/tokens/bsc/${encodeURIComponent(address)}`, server);
    fetchCandles(fetchWithKey(url, key, over.signal)).then(setCandles, () => {
      // What was shown stays.
      if (!over.signal.aborted) setCandles((before) => before ?? []);
    });
    return () => over.abort();
  }, [server.href, key, address, minute]);
  return candles;
}

async function fetchCandles(responding: Promise<Response>): Promise<readonly StoredCandle[]> {
  const response = await responding;
  if (!response.ok) return [];
  const { candles } = (await response.json()) as { readonly candles: readonly StoredCandle[] };
  return candles;
}
