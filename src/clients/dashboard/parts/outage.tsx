import { formatSpan } from "../../../base/lib/text/quantity.ts";
import { isOld } from "../state/judge.ts";
import type { Seen } from "../state/seen.ts";
import { TimeText } from "./time-text.tsx";

/** A notice at the bottom that the shown data is old, and why. It shifts no content. */
export function Outage({ seen }: { readonly seen: Seen }) {
  if (!isOld(seen)) return null;
  const { awayMs, isOffline, freshness } = seen;
  const isAway = awayMs > 0;
  return (
    <section class="outage" aria-label="State of the data">
      <strong>
        {isAway
          ? `Not connected for ${formatSpan(awayMs)}.`
          : isOffline
            ? "Your browser is offline."
            : describeTrouble(seen)}
      </strong>{" "}
      {freshness?.observedAt && (
        <>
          You see the market as of <TimeText at={freshness.observedAt} zone=" UTC" />.{" "}
        </>
      )}
      {isAway || isOffline
        ? "Reconnecting automatically."
        : freshness?.reason && `Reason: ${freshness.reason}.`}
    </section>
  );
}

function describeTrouble({ freshness }: Seen): string {
  return freshness?.state === "down" ? "The server cannot reach its market." : "The server's data is stale.";
}
