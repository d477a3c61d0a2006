import { useContext, useState } from "preact/hooks";
import type { GroupName } from "../../../lib/text/group-labels.ts";
import { MINUTE_MS } from "../../../lib/time/time.ts";
import { minuteOf } from "../../state/flare-query.ts";
import { spanUntil, WINDOWS, type WindowName } from "../../state/timeline/lanes.ts";
import { useStoredMinutes } from "../../state/timeline/use-stored-minutes.ts";
import { formatMinute } from "../../text/format.ts";
import { NowS } from "../flare/age.tsx";

interface ScrubberProps {
  readonly group: GroupName;
  readonly window: WindowName;
  readonly at: string | undefined;
  readonly onAt: (at: string | undefined) => void;
  readonly server: URL;
  readonly apiKey: string | undefined;
}

/** A server that has just started stores little: the slider stays wide enough to hit. */
const MAX_MISSING = 0.8;

/** Chooses the minute whose flares are listed, on the scale of the timeline above; right is now. */
export function Scrubber({ group, window, at, onAt, server, apiKey }: ScrubberProps) {
  const { toMs } = spanUntil(useContext(NowS) * 1_000, window);
  const [dragged, setDragged] = useState<number>();
  const max = WINDOWS[window] / MINUTE_MS;
  const endMs = Math.floor(toMs / MINUTE_MS) * MINUTE_MS;
  const startMs = endMs - max * MINUTE_MS;
  const [since, ask] = useStoredMinutes(server, apiKey, group, startMs);
  const isNone = since === "none";
  const sinceMs = typeof since === "number" ? Math.max(since, startMs) : startMs;
  const min = isNone ? 0 : Math.ceil((sinceMs - startMs) / MINUTE_MS);
  // The newest minute is not over: its place is that of now, so that one step left is a minute.
  const newest = max - 1;
  const given = at === undefined ? newest : max - (endMs - Date.parse(at)) / MINUTE_MS;
  const value = dragged ?? Math.max(min, given);
  const atOf = (minutes: number) =>
    minutes >= newest ? undefined : minuteOf(endMs - (max - minutes) * MINUTE_MS);
  const shown = dragged === undefined ? at : atOf(dragged);
  const text = shown === undefined ? "now" : `${formatMinute(Date.parse(shown))} UTC`;
  const hint = isNone ? "No past minute is stored yet" : "Drag to list the flares of a past minute";
  return (
    <label
      class="scrubber"
      onPointerEnter={ask}
      onFocusIn={ask}
      style={{ marginLeft: `${(100 * Math.min(MAX_MISSING, min / max)).toFixed(2)}%` }}
    >
      <input
        type="range"
        aria-label="Time of the list"
        {...{ min, max: newest, value }}
        disabled={isNone}
        aria-valuetext={text}
        onInput={({ currentTarget }) => setDragged(Number(currentTarget.value))}
        onChange={({ currentTarget }) => {
          setDragged(undefined);
          onAt(atOf(Number(currentTarget.value)));
        }}
      />
      <span>{formatMinute(startMs + min * MINUTE_MS)}</span>
      <span>{shown === undefined ? hint : <b>{text}</b>}</span>
      <span>now</span>
    </label>
  );
}
