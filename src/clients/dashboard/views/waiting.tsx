import type { Seen } from "../state/seen.ts";

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
