import { useEffect, useRef, useState } from "preact/hooks";
import { safeText } from "../../lib/text/safe-text.ts";
import { judge } from "../state/judge.ts";
import type { NamedEvent, Seen } from "../state/seen.ts";

const EVERY_MS = 10_000;
const MAX_NAMED = 3;

/** Announces flares and lasting connection changes to screen readers, not too often. */
export function Announcer({ seen }: { readonly seen: Seen | undefined }) {
  const [word, setWord] = useState("");
  const [sentence, setSentence] = useState("");
  const announced = useRef(0);
  const latest = useRef(seen);
  latest.current = seen;
  useEffect(() => {
    const announce = () => {
      const now = latest.current;
      if (!now) return;
      setWord(judge(now).word);
      const symbols = now.events.slice(0, now.count - announced.current).flatMap((event) => startedOf(event));
      announced.current = now.count;
      if (symbols.length > 0) setSentence(say(symbols));
    };
    const timer = setInterval(announce, EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <div class="unseen">
      <p role="status">{word && `Connection: ${word}`}</p>
      <p aria-live="polite">{sentence}</p>
    </div>
  );
}

function startedOf({ event, token }: NamedEvent): readonly string[] {
  const isNew = event.name === "flare-started" && event.data.cause === "detected";
  return isNew ? [safeText(token?.symbol ?? "")] : [];
}

function say(symbols: readonly string[]): string {
  const named = symbols.slice(0, MAX_NAMED).join(", ");
  const more = symbols.length > MAX_NAMED ? ` and ${symbols.length - MAX_NAMED} more` : "";
  return `${symbols.length === 1 ? "A flare" : `${symbols.length} flares`} started: ${named}${more}`;
}
