import { useContext, useEffect, useRef, useState } from "preact/hooks";
import type { GroupName } from "../../../../base/model/groups.ts";
import type { FlareRecord } from "../../../../base/model/index.ts";
import { NowS } from "../../parts/flare/age.tsx";
import { type FlareLists, FULL_FINISHED } from "../group/flare-lists.ts";
import { type Bar, barsOf, haveSameFlares, withEarlier } from "./bars.ts";
import { fetchOlderFlares } from "./older-flares.ts";

interface BarsWanted {
  readonly group: GroupName;
  readonly view: FlareLists;
  readonly server: URL;
  readonly apiKey: string | undefined;
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
function useOlderFlares({ group, view, server, apiKey, windowMs }: BarsWanted): readonly FlareRecord[] {
  const [older, setOlder] = useState<readonly FlareRecord[]>([]);
  const listed = view.flares?.finished_trending ?? [];
  const oldest = listed.length < FULL_FINISHED ? undefined : oldestFinish(listed);
  const fromMs = useContext(NowS) * 1_000 - windowMs;
  const isNeeded = oldest !== undefined && Date.parse(oldest) > fromMs;
  useEffect(() => {
    if (!isNeeded || oldest === undefined) return;
    const over = new AbortController();
    fetchOlderFlares(server, apiKey, { group, fromMs, to: oldest }, over.signal).then(setOlder, () => {});
    return () => over.abort();
  }, [server.href, apiKey, group, windowMs, isNeeded]);
  return older;
}

function oldestFinish(listed: readonly { readonly finished_trending_at: string | null }[]) {
  return listed.reduce<string | undefined>((oldest, { finished_trending_at: at }) => {
    return at !== null && (oldest === undefined || at < oldest) ? at : oldest;
  }, undefined);
}
