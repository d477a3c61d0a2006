import { useContext, useState } from "preact/hooks";
import { MINUTE_MS } from "../../../lib/time/time.ts";
import { minuteOf } from "../../state/flare-query.ts";
import { spanUntil, WINDOWS, type WindowName } from "../../state/timeline/lanes.ts";
import { formatMinute } from "../../text/format.ts";
import { NowS } from "../flare/age.tsx";

interface ScrubberProps {
  readonly window: WindowName;
  readonly at: string | undefined;
  readonly onAt: (at: string | undefined) => void;
}

/** Chooses the minute whose flares are listed, on the scale of the timeline above; right is now. */
export function Scrubber({ window, at, onAt }: ScrubberProps) {
  const { toMs } = spanUntil(useContext(NowS) * 1_000, window);
  const [dragged, setDragged] = useState<number>();
  const max = WINDOWS[window] / MINUTE_MS;
  const endMs = Math.floor(toMs / MINUTE_MS) * MINUTE_MS;
  const given = at === undefined ? max : max - (endMs - Date.parse(at)) / MINUTE_MS;
  const value = dragged ?? Math.max(0, given);
  // The newest minute is not over.
  const atOf = (minutes: number) =>
    minutes >= max - 1 ? undefined : minuteOf(endMs - (max - minutes) * MINUTE_MS);
  const shown = dragged === undefined ? at : atOf(dragged);
  const text = shown === undefined ? "now" : `${formatMinute(Date.parse(shown))} UTC`;
  return (
    <label class="scrubber">
      <input
        type="range"
        aria-label="Time of the list"
        {...{ min: 0, max, value }}
        aria-valuetext={text}
        onInput={({ currentTarget }) => setDragged(Number(currentTarget.value))}
        onChange={({ currentTarget }) => {
          setDragged(undefined);
          onAt(atOf(Number(currentTarget.value)));
        }}
      />
      <span>Drag to list the flares of a past minute</span>
      <span>{text}</span>
    </label>
  );
}
