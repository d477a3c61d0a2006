import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { HOUR_MS, MINUTE_MS } from "../../../../base/lib/time/time.ts";
import { formatSpan } from "../../text/span.ts";

/** Event time in whole seconds. A context, so that a tick rerenders only the text and no row. */
export const NowS = createContext(0);

/** The time since a moment, counting up. */
export function Age({ sinceMs }: { readonly sinceMs: number }) {
  return <>{formatSpan(useContext(NowS) * 1_000 - sinceMs)}</>;
}

/** The time since a moment in whole minutes: `just now`, `12 min ago`, `3h 05m ago`. */
export function Ago({ atMs }: { readonly atMs: number }) {
  const ms = useContext(NowS) * 1_000 - atMs;
  if (ms < MINUTE_MS) return <>just now</>;
  return <>{ms < HOUR_MS ? `${Math.floor(ms / MINUTE_MS)} min` : formatSpan(ms)} ago</>;
}

/** The time until a moment, counting down to `any moment`. `ofMs` is the whole wait. */
export function Countdown({ untilMs, ofMs }: { readonly untilMs: number; readonly ofMs: number }) {
  const leftMs = Math.max(0, untilMs - useContext(NowS) * 1_000);
  return (
    <span class="countdown">
      <progress max={ofMs} value={leftMs} aria-label="Time left" />
      {leftMs === 0 ? "any moment" : formatSpan(leftMs)}
    </span>
  );
}
