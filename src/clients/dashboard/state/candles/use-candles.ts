import { useEffect, useRef, useState } from "preact/hooks";
import type { AnyFlare } from "../../../../base/model/index.ts";
import { key, server, useNow } from "../store.ts";
import { fetchWithKey } from "../visitor/fetch-with-key.ts";
import type { PlotCandle } from "./plot.ts";

/** The last hour's candles of flaring tokens. */
interface RecentCandles {
  /** End of the last closed minute; 0 if there are no candles. */
  readonly closedMs: number;
  /** Addresses are in lower case. */
  readonly byAddress: ReadonlyMap<string, readonly PlotCandle[]>;
  /** Whether the server has said that it has none. */
  readonly isMissing: boolean;
}

const EMPTY: RecentCandles = { closedMs: 0, byAddress: new Map(), isMissing: false };
/** The server closes a minute shortly after its end. */
const CLOSES_LATE_S = 3;

/**
 * A request without a response, for example from an offline browser, is retried within this much
 * event time.
 */
const RETRY_S = 5;

/** Returns the number of the last minute that the server has closed. */
export function useClosedMinute(): number {
  return useNow((ms) => Math.floor((ms / 1_000 - CLOSES_LATE_S) / 60));
}

/**
 * Fetches the candles while there are flares: when a minute has ended, and when the list begins
 * with another flare. Empty before the first response, and if the server has none. A failed or
 * refused request changes nothing.
 */
export function useCandles(
  flares: readonly AnyFlare[],
  /** A past minute; default: now. */
  at?: string,
): RecentCandles {
  const [candles, setCandles] = useState(EMPTY);
  const minute = useClosedMinute();
  const hasFailed = useRef(false);
  const retry = useRef(0);
  const period = useNow((ms) => Math.floor(ms / 1_000 / RETRY_S));
  if (hasFailed.current) retry.current = period;
  const newest = flares[0]?.id;
  useEffect(() => {
    if (newest === undefined) return;
    const over = new AbortController();
    const url = new URL(at === undefined ? "api/v1/candles" : `api/v1/candles?at=${at}`, server.value);
    hasFailed.current = false;
    readCandles(fetchWithKey(url, key.value, over.signal)).then(
      (fetched) => {
        if (fetched) setCandles(fetched);
      },
      () => {
        hasFailed.current = !over.signal.aborted;
      },
    );
    return () => over.abort();
  }, [key.value, minute, newest, at, retry.current]);
  return candles;
}

async function readCandles(responding: Promise<Response>): Promise<RecentCandles | undefined> {
  const response = await responding;
  if (response.status === 404) return { ...EMPTY, isMissing: true };
  if (!response.ok) return undefined;
  const { closed_at, bsc } = (await response.json()) as {
    readonly closed_at: string | null;
    readonly bsc: Readonly<Record<string, readonly PlotCandle[]>>;
  };
  return {
    closedMs: closed_at === null ? 0 : Date.parse(closed_at),
    isMissing: closed_at === null,
    byAddress: new Map(Object.entries(bsc).map(([address, candles]) => [address.toLowerCase(), candles])),
  };
}
