import { useEffect, useRef } from "preact/hooks";
import type { DataFreshness } from "../../sdk/index.ts";
import { fillingText } from "../../text/filling-text.ts";
import { describeAge, judge } from "../state/judge.ts";
import { access, freshness as latest, seen as state } from "../state/store.ts";
import { TimeText } from "./time-text.tsx";

const TRANSPORTS = { websocket: "WebSocket", sse: "server-sent events", poll: "long poll" } as const;

/** The state of the connection and the data's age, with details on click. */
export function StatusBar() {
  const seen = state.value;
  const { mood, word } = judge(seen);
  const freshness = latest.value;
  const origin = access.value?.origin;
  const filling = freshness && fillingText(freshness);
  const details = useRef<HTMLDetailsElement>(null);
  useEffect(() => (details.current ? closeFromOutside(details.current) : undefined), []);
  return (
    <details ref={details} class={`status ${mood}`}>
      <summary>
        {origin && origin !== "live" && (
          <span class="origin">
            {[
              origin,
              origin === "recorded" && freshness?.observedAt?.slice(0, 10),
              seen?.pace && `≈${seen.pace}×`,
            ]
              .filter(Boolean)
              .join(" · ")}
          </span>
        )}
        <span class="dot" aria-hidden="true" />
        <strong id="status-word">{word}</strong>
        {freshness && <span class="age">{describeAge(freshness)}</span>}
        {filling && <span class="age">reading the past: {filling}</span>}
      </summary>
      <dl>
        <dt>Transport</dt>
        <dd>{seen ? TRANSPORTS[seen.connection.transport] : "–"}</dd>
        <dt>Cursor</dt>
        <dd>
          <code>{seen?.cursor ?? "–"}</code>
        </dd>
        <dt>Market time</dt>
        <dd>
          {freshness?.observedAt ? (
            <>
              {freshness.observedAt.slice(0, 10)} <TimeText at={freshness.observedAt} zone=" UTC" />
            </>
          ) : (
            "–"
          )}
        </dd>
        <dt>Market</dt>
        <dd>{origin ?? "–"}</dd>
        <dt>Source</dt>
        <dd>{freshness ? freshnessText(freshness) : "–"}</dd>
        <dt>Events</dt>
        <dd>{seen?.count ?? 0} since this page was opened</dd>
        <dt>Missed</dt>
        <dd>{seen && seen.gaps.length > 0 ? seen.gaps.join("; ") : "nothing"}</dd>
        {seen?.connection.reason && (
          <>
            <dt>Connection</dt>
            <dd>{seen.connection.reason}</dd>
          </>
        )}
      </dl>
    </details>
  );
}

/** Describes the state of the source. Avoids `live`, which would look like the kind of market. */
function freshnessText({ state, reason }: DataFreshness): string {
  return [state === "live" ? "up to date" : state, reason].filter(Boolean).join(": ");
}

/**
 * Closes the details like a menu: on a press or focus outside, and on Escape. Returns a function
 * that removes the listeners.
 */
function closeFromOutside(details: HTMLDetailsElement): () => void {
  const over = new AbortController();
  const { signal } = over;
  const leave = ({ target }: Event) => {
    if (target instanceof Node && !details.contains(target)) details.open = false;
  };
  document.addEventListener("pointerdown", leave, { signal });
  document.addEventListener("focusin", leave, { signal });
  const leaveByKey = ({ key }: KeyboardEvent) => {
    if (key !== "Escape" || !details.open) return;
    details.open = false;
    details.querySelector("summary")?.focus();
  };
  document.addEventListener("keydown", leaveByKey, { signal });
  return () => over.abort();
}
