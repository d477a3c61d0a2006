import type { Seen } from "../follow.ts";
import { formatSpan, formatTime } from "../format.ts";

const TRANSPORTS = { websocket: "WebSocket", sse: "server-sent events", poll: "long poll" } as const;

/** In a word how it stands, and how far it can be trusted. */
function judge(seen: Seen | undefined): { readonly mood: "good" | "wait" | "bad"; readonly word: string } {
  if (!seen) return { mood: "wait", word: "connecting" };
  const { connection, freshness } = seen;
  if (connection.state === "closed") return { mood: "bad", word: "refused" };
  if (connection.state === "paused") return { mood: "wait", word: "paused" };
  if (connection.state !== "live") return { mood: "wait", word: "reconnecting" };
  if (freshness?.state === "down") return { mood: "bad", word: "source down" };
  if (freshness?.state === "stale") return { mood: "bad", word: "data is stale" };
  return { mood: "good", word: "live" };
}

/** Connection, transport, the data's age and place, at a glance; all the rest behind it. */
export function StatusBar({ seen }: { readonly seen: Seen | undefined }) {
  const { mood, word } = judge(seen);
  const freshness = seen?.freshness;
  return (
    <details class={`status ${mood}`}>
      <summary>
        <span class="dot" aria-hidden="true" />
        <strong id="status-word">{word}</strong>
        {freshness && <span class="age">data {formatSpan(freshness.ageMs)} old</span>}
      </summary>
      <dl>
        <dt>Transport</dt>
        <dd>{seen ? TRANSPORTS[seen.connection.transport] : "–"}</dd>
        <dt>Cursor</dt>
        <dd>
          <code>{seen?.cursor ?? "–"}</code>
        </dd>
        <dt>Market time</dt>
        <dd>{freshness?.observedAt ? `${formatTime(freshness.observedAt)} UTC` : "–"}</dd>
        <dt>Source</dt>
        <dd>{freshness ? [freshness.state, freshness.reason].filter(Boolean).join(": ") : "–"}</dd>
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
