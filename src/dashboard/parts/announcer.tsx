import { useEffect, useRef, useState } from "preact/hooks";
import type { StreamEvent } from "../../client/index.ts";
import { safeText } from "../../lib/safe-text.ts";
import type { Seen } from "../follow.ts";

/** How often a screen reader is told something, at most. */
const EVERY_MS = 10_000;
/** Names in one sentence, at most. */
const MOST_NAMED = 3;

/** Tells screen readers which flares started, in few words and not often; invisible. */
export function Announcer({ seen }: { readonly seen: Seen | undefined }) {
  const [sentence, setSentence] = useState("");
  const told = useRef(0);
  const latest = useRef(seen);
  latest.current = seen;
  useEffect(() => {
    const tell = () => {
      const now = latest.current;
      if (!now) return;
      const fresh = now.events.slice(0, now.count - told.current);
      told.current = now.count;
      const symbols = fresh.flatMap((event) => startedOf(event));
      if (symbols.length > 0) setSentence(say(symbols));
    };
    const timer = setInterval(tell, EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <p class="unseen" aria-live="polite">
      {sentence}
    </p>
  );
}

function startedOf(event: StreamEvent): readonly string[] {
  const isNew = event.name === "flare-started" && event.data.cause === "detected";
  return isNew ? [safeText(event.data.flare.token.symbol)] : [];
}

function say(symbols: readonly string[]): string {
  const named = symbols.slice(0, MOST_NAMED).join(", ");
  const more = symbols.length > MOST_NAMED ? ` and ${symbols.length - MOST_NAMED} more` : "";
  return `${symbols.length === 1 ? "A flare" : `${symbols.length} flares`} started: ${named}${more}`;
}
