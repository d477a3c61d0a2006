import { useEffect, useRef, useState } from "preact/hooks";
import { cssShare } from "../../../../base/lib/text/percent.ts";
import { MINUTE_MS, startOf } from "../../../../base/lib/time/time.ts";
import type { GroupName } from "../../../../base/model/groups.ts";
import { minuteOf } from "../../state/flare-query.ts";
import { key, server } from "../../state/store.ts";
import { type TimeSpan, WINDOW_MS } from "../../state/timeline/lanes.ts";
import { type StoredSince, storedSince } from "../../state/timeline/stored-since.ts";
import { fetchWithKey } from "../../state/visitor/fetch-with-key.ts";
import { formatTime, zoneName } from "../../text/format.ts";

interface ScrubberProps {
  readonly group: GroupName;
  /** The time that the strip shows. */
  readonly span: TimeSpan;
  readonly at: string | undefined;
  readonly onAt: (at: string | undefined, how: "push" | "replace") => void;
}

/**
 * Chooses the minute whose flares are listed. The right end is now. It lies over the strip
 * and has its scale. Minutes before the server's stored ones cannot be chosen.
 */
export function Scrubber({ group, span, at, onAt }: ScrubberProps) {
  const [dragged, setDragged] = useState<number>();
  // Each key press chooses a minute. Consecutive presses are one step for Back.
  const isMoving = useRef(false);
  const endMove = () => {
    isMoving.current = false;
  };
  const max = Math.ceil((span.toMs - span.fromMs) / MINUTE_MS);
  const endMs = startOf(MINUTE_MS, span.toMs);
  const startMs = endMs - max * MINUTE_MS;
  const since = useStoredMinutes(group, endMs);
  const isNone = since === "none";
  const sinceMs = typeof since === "number" ? Math.max(since, startMs) : startMs;
  const min = isNone ? 0 : Math.ceil((sinceMs - startMs) / MINUTE_MS);
  // The newest minute is not over. Its position stands for now, so that a step left is a minute.
  const newest = max - 1;
  const current = at === undefined ? newest : max - (endMs - Date.parse(at)) / MINUTE_MS;
  const value = dragged ?? Math.max(min, current);
  const isGone = typeof since === "number" && at !== undefined && Date.parse(at) < since;
  // The visitor chose a minute before the server reported that it is no longer stored.
  useEffect(() => {
    if (isGone) onAt(atOf(min), "replace");
  }, [isGone]);
  // A drag may end without a change event, if the thumb was moved back meanwhile.
  useEffect(() => setDragged(undefined), [at]);
  const atOf = (minutes: number) =>
    minutes >= newest ? undefined : minuteOf(endMs - (max - minutes) * MINUTE_MS);
  /**
   * Returns the position of the thumb. Moves it to the first stored minute if it is before that.
   */
  const read = (input: HTMLInputElement): number => {
    const minutes = Math.max(min, Number(input.value));
    input.value = `${minutes}`;
    return minutes;
  };
  const shown = dragged === undefined ? at : atOf(dragged);
  const text = shown === undefined ? "now" : `${formatTime(Date.parse(shown))} ${zoneName()}`;
  const hint = isNone
    ? "No history yet"
    : typeof since === "number" && since > endMs - WINDOW_MS
      ? `History starts at ${formatTime(since)}`
      : "Drag to see a past minute";
  return (
    <label class="scrubber">
      <input
        type="range"
        aria-label="Time of the list"
        min={0}
        max={newest}
        value={value}
        disabled={isNone}
        aria-valuetext={text}
        title={hint}
        onPointerDown={endMove}
        onBlur={endMove}
        onInput={({ currentTarget }) => setDragged(read(currentTarget))}
        onChange={({ currentTarget }) => {
          setDragged(undefined);
          onAt(atOf(read(currentTarget)), isMoving.current ? "replace" : "push");
          isMoving.current = true;
        }}
      />
      {shown !== undefined && <b style={{ left: cssShare(value / newest) }}>{text}</b>}
    </label>
  );
}

/** A response this old is nearly right, because the oldest minutes expire one by one. */
const KNOWN_MS = 10 * MINUTE_MS;

/**
 * Returns since when the server has past minutes. Asks again every ten minutes, and every minute
 * while that is unknown or there are none. A failed request changes nothing.
 */
function useStoredMinutes(group: GroupName, nowMs: number): StoredSince {
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
