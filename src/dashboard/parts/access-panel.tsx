import { useState } from "preact/hooks";
import type { Seen } from "../state/seen.ts";
import { KeyForm } from "./key-form.tsx";

interface AccessPanelProps {
  readonly seen: Seen;
  readonly hasKey: boolean;
  /** Switches to another key, or to none. */
  readonly onKey: (key: string | undefined, isStored: boolean) => void;
}

/** Replaces the pages for a rejected visitor: shows the reason, and a form for a key. */
export function Refused({ seen, hasKey, onKey }: AccessPanelProps) {
  return (
    <section aria-labelledby="refused-title">
      <h2 id="refused-title">{hasKey ? "The server rejected this key" : "The server requires a key"}</h2>
      <p role="alert">{seen.refused}</p>
      <KeyForm onKey={onKey} />
      {hasKey && (
        <button type="button" onClick={() => onKey(undefined, false)}>
          Continue without a key
        </button>
      )}
    </section>
  );
}

/** Shows the visitor's plan, and a form for a key. Empty if the server uses no keys. */
export function Plan({ seen, hasKey, onKey }: AccessPanelProps) {
  const [isAsked, setAsked] = useState(false);
  const plan = seen.access?.plan;
  if (plan === undefined) return null;
  const words = plan === "pro" ? "full access" : "flares appear after five minutes";
  return (
    <section class="plan" aria-label="Your access">
      <p>
        {hasKey ? `Your key has the plan ${plan}` : `Without a key you have the plan ${plan}`}: {words}.{" "}
        {hasKey ? (
          <button type="button" onClick={() => onKey(undefined, false)}>
            Forget the key
          </button>
        ) : (
          <button type="button" aria-expanded={isAsked} onClick={() => setAsked(!isAsked)}>
            Enter a key
          </button>
        )}
      </p>
      {isAsked && !hasKey && <KeyForm onKey={onKey} />}
    </section>
  );
}
