import { useEffect, useRef, useState } from "preact/hooks";
import { createStartNotices, hasPro } from "../state/feed/news.ts";
import { judge } from "../state/judge.ts";
import type { Seen } from "../state/seen.ts";

const EVERY_MS = 10_000;

/** Announces flares and the connection's state to screen readers, at most every ten seconds. */
export function Announcer({ seen }: { readonly seen: Seen | undefined }) {
  const [word, setWord] = useState("");
  const [sentence, setSentence] = useState("");
  const latest = useRef(seen);
  latest.current = seen;
  useEffect(() => {
    const noticeOf = createStartNotices();
    const announce = () => {
      const now = latest.current;
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
  }, []);
  return (
    <div class="unseen">
      <p role="status">{word && `Connection: ${word}`}</p>
      <p aria-live="polite">{sentence}</p>
    </div>
  );
}
