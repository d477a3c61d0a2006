import { isOld } from "../state/judge.ts";
import type { Seen } from "../state/seen.ts";
import { formatSpan } from "../text/span.ts";
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
            : describeOutage(seen)}
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

function describeOutage({ freshness }: Seen): string {
  return freshness?.state === "down" ? "The server cannot reach its market." : "The server's data is stale.";
}

/** Why there is nothing to show yet, and what to do about it. */
export function Waiting({ seen }: { readonly seen: Seen | undefined }) {
  const reason = seen?.connection.reason ?? "";
  if (reason === "") return <p class="empty">Waiting for the server…</p>;
  const [, why] = /^HTTP 503 no data yet: (.*)$/s.exec(reason) ?? [];
  const [first = "", ...causes] = why?.split("; ") ?? [];
  return (
    <section class="empty waiting">
      <h2>{why === undefined ? "The server does not respond" : "The server has no data yet"}</h2>
      {why === undefined ? (
        <p>{reason}</p>
      ) : (
        <ul>
          {(causes.length > 0 ? causes : [first]).map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
      )}
      <p>
        This page keeps trying.
        {causes.length > 0 && (
          <>
            {" "}
            If this lasts for more than a minute, run Flarewire's command <code>doctor</code> on the server.
            It checks every service and says what to do.
          </>
        )}
      </p>
    </section>
  );
}
