import type { Seen } from "../follow.ts";
import { formatSpan, formatTime } from "../format.ts";
import { isOld } from "../judge.ts";

/** Says over the foot of the page that what is shown is old, and why; it moves nothing. */
export function Outage({ seen }: { readonly seen: Seen }) {
  if (!isOld(seen)) return null;
  const { awayMs, freshness } = seen;
  const asOf = freshness?.observedAt ? `Shown is the market of ${formatTime(freshness.observedAt)} UTC.` : "";
  return (
    <section class="outage" aria-label="State of the data">
      <strong>{awayMs > 0 ? `Not connected for ${formatSpan(awayMs)}.` : saidOf(seen)}</strong> {asOf}{" "}
      {awayMs > 0 ? "It is tried again by itself." : freshness?.reason}
    </section>
  );
}

function saidOf({ freshness }: Seen): string {
  if (freshness?.state === "down") return "The server hears nothing of its market.";
  return `The server's data is ${formatSpan(freshness?.ageMs ?? 0)} old.`;
}
