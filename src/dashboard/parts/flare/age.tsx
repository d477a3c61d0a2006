import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { formatSpan } from "../../text/format.ts";

/** Event time in whole seconds. What counts time reads it by itself, so that a second costs a text and no row. */
export const NowS = createContext(0);

/** How long ago that was, counting. */
export function Age({ sinceMs }: { readonly sinceMs: number }) {
  return <>{formatSpan(useContext(NowS) * 1_000 - sinceMs)}</>;
}

/** How long until then, counting down; it ends with `at any moment`. */
export function Countdown({ untilMs, ofMs }: { readonly untilMs: number; readonly ofMs: number }) {
  const leftMs = Math.max(0, untilMs - useContext(NowS) * 1_000);
  return (
    <span class="countdown">
      <progress max={ofMs} value={leftMs} aria-label="Time left" />
      {leftMs === 0 ? "any moment" : formatSpan(leftMs)}
    </span>
  );
}
