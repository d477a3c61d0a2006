import { useEffect, useState } from "preact/hooks";
import { formatSpan } from "../../text/span.ts";
import { createStartNotices, hasPro } from "../state/feed/news.ts";
import { formatQuery } from "../state/flare-query.ts";
import { judge } from "../state/judge.ts";
import type { Seen } from "../state/seen.ts";
import { access, isAnonymous, isPast, key, renderedMain, seen, switchKey } from "../state/store.ts";
import { route } from "../state/use-route.ts";
import { onDemand } from "./on-demand.tsx";
import { TimeText } from "./time-text.tsx";

/** A notice at the bottom that the shown data is old, and why. It shifts no content. */
export function Outage() {
  if (!isPast.value || !seen.value) return null;
  const { awayMs, isOffline, freshness } = seen.value;
  const isAway = awayMs > 0;
  return (
    <section class="outage" aria-label="State of the data">
      <strong>
        {isAway
          ? `Not connected for ${formatSpan(awayMs)}.`
          : isOffline
            ? "Your browser is offline."
            : describeOutage(freshness)}
      </strong>{" "}
      {freshness?.observedAt && (
        <>
          You see the market as of <TimeText at={freshness.observedAt} hasZone />.{" "}
        </>
      )}
      {isAway || isOffline
        ? "Reconnecting automatically."
        : freshness?.reason && `Reason: ${freshness.reason}.`}
    </section>
  );
}

function describeOutage(freshness: Seen["freshness"]): string {
  return freshness?.state === "down" ? "The server cannot reach its market." : "The server's data is stale.";
}

/** Why there is nothing to show yet, and what to do about it. */
export function Waiting() {
  const reason = seen.value?.connection.reason ?? "";
  const shown = route.value;
  const isFirst = shown.page === "now" && formatQuery(shown.query) === "";
  if (reason === "" && isFirst && renderedMain.value !== "")
    // The server has rendered and escaped it.
    return <div class="rendered" dangerouslySetInnerHTML={{ __html: renderedMain.value }} />;
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

/** Replaces the pages for a rejected visitor. */
export const Refused = onDemand(async () => (await import("./refused.tsx")).Refused);
const KeyForm = onDemand(async () => (await import("./refused.tsx")).KeyForm);

/** Shows the visitor's plan, and a form for a key. Empty if the server uses no keys. */
export function Plan() {
  const [isOpen, setOpen] = useState(false);
  const hasKey = !isAnonymous.value;
  const plan = access.value?.plan;
  if (plan === undefined) return null;
  const words = plan === "pro" ? "full access" : "flares appear after five minutes";
  return (
    <section class="plan" aria-label="Your access">
      <p>
        {hasKey ? `Your key gives you the ${plan} plan` : `Without a key, you are on the ${plan} plan`}:{" "}
        {words}.{" "}
        {hasKey ? (
          <button type="button" onClick={() => switchKey(undefined)}>
            Forget the key
          </button>
        ) : (
          <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            Enter a key
          </button>
        )}
      </p>
      {isOpen && !hasKey && <KeyForm />}
    </section>
  );
}

const EVERY_MS = 10_000;

/** Announces flares and the connection's state to screen readers, at most every ten seconds. */
export function Announcer() {
  const [word, setWord] = useState("");
  const [sentence, setSentence] = useState("");
  // With another key, forgets the flares that it announced.
  useEffect(() => {
    setWord("");
    setSentence("");
    const noticeOf = createStartNotices();
    const announce = () => {
      const now = seen.peek();
      if (!now) return;
      setWord(judge(now).word);
      const notice = noticeOf(
        now.news.map(({ event }) => event),
        hasPro(now.view),
      );
      if (notice) setSentence(notice);
    };
    const timer = setInterval(announce, EVERY_MS);
    return () => clearInterval(timer);
  }, [key.value]);
  return (
    <div class="unseen">
      <p role="status">{word && `Connection: ${word}`}</p>
      <p aria-live="polite">{sentence}</p>
    </div>
  );
}
