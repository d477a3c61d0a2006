import { useEffect, useState } from "preact/hooks";
import { createStartNotices, hasPro } from "../state/feed/news.ts";
import { judge } from "../state/judge.ts";
import { key, seen } from "../state/store.ts";

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
