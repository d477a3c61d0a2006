import { useState } from "preact/hooks";
import type { Seen } from "../state/seen.ts";
import { KeyForm } from "./key-form.tsx";

interface DoorwayProps {
  readonly seen: Seen;
  readonly hasKey: boolean;
  /** Takes another key, or with `undefined` none. */
  readonly onKey: (key: string | undefined, isKept: boolean) => void;
}

/** What stands in place of the pages where the server refuses this visitor: why, and what can be done. */
export function Refused({ seen, hasKey, onKey }: DoorwayProps) {
  return (
    <section aria-labelledby="refused-title">
      <h2 id="refused-title">{hasKey ? "The server does not take this key" : "The server wants a key"}</h2>
      <p role="alert">{seen.refused}</p>
      <KeyForm onKey={onKey} />
      {hasKey && (
        <button type="button" onClick={() => onKey(undefined, false)}>
          Go on without a key
        </button>
      )}
    </section>
  );
}

/** Says what a visitor sees whose plan is not the whole, and takes a key, or gives it up; nothing where the server knows no keys. */
export function Plan({ seen, hasKey, onKey }: DoorwayProps) {
  const [isAsked, setAsked] = useState(false);
  const plan = seen.access?.plan;
  if (plan === undefined) return null;
  const words = plan === "pro" ? "all there is" : "flares from their fifth minute on";
  return (
    <section class="plan" aria-label="What you see">
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
