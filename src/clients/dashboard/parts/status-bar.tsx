import { useEffect, useRef, useState } from "preact/hooks";
import { fillingText } from "../../text/filling-text.ts";
import { describeAge, judge } from "../state/judge.ts";
import { access, freshness as latest, seen as state } from "../state/store.ts";
import { onDemand } from "./on-demand.tsx";

const StatusDetails = onDemand(async () => (await import("./status-details.tsx")).StatusDetails);

/** The state of the connection and the data's age, with details on click. */
export function StatusBar() {
  const seen = state.value;
  const { mood, word } = judge(seen);
  const freshness = latest.value;
  const origin = access.value?.origin;
  const filling = freshness && fillingText(freshness);
  const [isOpen, setOpen] = useState(false);
  const details = useRef<HTMLDetailsElement>(null);
  useEffect(() => (details.current ? closeFromOutside(details.current) : undefined), []);
  return (
    <details
      ref={details}
      class={`status ${mood}`}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
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
      {isOpen && <StatusDetails />}
    </details>
  );
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
