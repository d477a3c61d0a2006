import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { MINUTE_MS } from "../../../../base/lib/time/time.ts";
import { formatMinutes, formatSpan } from "../../text/span.ts";

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
  return <>{formatMinutes(ms)} ago</>;
}

/** How long something has lasted, in whole minutes. */
export function Lasting({ sinceMs }: { readonly sinceMs: number }) {
  const ms = useContext(NowS) * 1_000 - sinceMs;
  return <>{formatMinutes(ms)}</>;
}
