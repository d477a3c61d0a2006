import { MINUTE_MS } from "../../../../base/lib/time/time.ts";
import { formatMinutes } from "../../../text/span.ts";
import { useNow } from "../../state/store.ts";

/** The time since a moment in whole minutes: `just now`, `12 min ago`, `3h 05m ago`. */
export function Ago({ atMs }: { readonly atMs: number }) {
  const text = useNow(
    (nowMs) => {
      return nowMs - atMs < MINUTE_MS ? "just now" : `${formatMinutes(nowMs - atMs)} ago`;
    },
    [atMs],
  );
  return <>{text}</>;
}

interface LastingProps {
  readonly sinceMs: number;
  /** Until when; default: now. */
  readonly untilMs?: number | undefined;
}

/** How long something has lasted, in whole minutes. */
export function Lasting({ sinceMs, untilMs }: LastingProps) {
  return <>{useNow((nowMs) => formatMinutes((untilMs ?? nowMs) - sinceMs), [sinceMs, untilMs])}</>;
}
