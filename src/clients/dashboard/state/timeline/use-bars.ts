import { useEffect, useRef, useState } from "preact/hooks";
import type { GroupName } from "../../../../base/model/groups.ts";
import type { FlareRecord } from "../../../../base/model/index.ts";
import { type FlareLists, FULL_FINISHED } from "../group/flare-lists.ts";
import { key, nowS, server, useNow } from "../store.ts";
import { type Bar, barsOf, haveSameFlares, withEarlier } from "./bars.ts";
import { fetchOlderFlares } from "./older-flares.ts";

interface BarsWanted {
  readonly group: GroupName;
  readonly view: FlareLists;
  /** How far back. */
  readonly windowMs: number;
}

/**
 * Returns the flares that run or that ended within the window. Returns the same bars until a flare
 * starts or ends or older flares arrive.
 */
export function useBars(wanted: BarsWanted): readonly Bar[] {
  const { view } = wanted;
  const older = useOlderFlares(wanted);
  const last = useRef<{ readonly view: FlareLists; readonly older: unknown; readonly bars: readonly Bar[] }>(
    undefined,
  );
  const before = last.current;
  if (before?.older === older && haveSameFlares(before.view, view)) return before.bars;
  const bars = withEarlier(barsOf(view, older), before?.bars ?? []);
  last.current = { view, older, bars };
  return bars;
}

/**
 * Returns the window's finished flares that are no longer listed, from the history; none before its
 * response. A failed request changes nothing.
 */
function useOlderFlares({ group, view, windowMs }: BarsWanted): readonly FlareRecord[] {
  const [older, setOlder] = useState<readonly FlareRecord[]>([]);
  const listed = view.flares?.finished_trending ?? [];
  const oldest = listed.length < FULL_FINISHED ? undefined : oldestFinish(listed);
  const oldestMs = oldest === undefined ? 0 : Date.parse(oldest);
  const isNeeded = useNow((nowMs) => oldestMs > nowMs - windowMs, [oldestMs, windowMs]);
  useEffect(() => {
    if (!isNeeded || oldest === undefined) return;
    const over = new AbortController();
    const fromMs = nowS.peek() * 1_000 - windowMs;
    fetchOlderFlares(server.value, key.value, { group, fromMs, to: oldest }, over.signal).then(
      setOlder,
      () => {},
    );
    return () => over.abort();
  }, [key.value, group, windowMs, isNeeded]);
  return older;
}

function oldestFinish(listed: readonly { readonly finished_trending_at: string | null }[]) {
  return listed.reduce<string | undefined>((oldest, { finished_trending_at: at }) => {
    return at !== null && (oldest === undefined || at < oldest) ? at : oldest;
  }, undefined);
}
