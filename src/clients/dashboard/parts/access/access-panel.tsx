import { useState } from "preact/hooks";
import { lacksKey } from "../../state/judge.ts";
import type { Seen } from "../../state/seen.ts";
import { KeyForm } from "./key-form.tsx";

interface AccessPanelProps {
  readonly seen: Seen;
  readonly hasKey: boolean;
  /** Switches to another key, or to none. If `isStored`, the key lasts until the tab is closed. */
  readonly onKey: (key: string | undefined, isStored?: boolean) => void;
}

interface RefusedProps extends AccessPanelProps {
  readonly server: URL;
}

/**
 * Replaces the pages for a rejected visitor. If a valid key is missing, explains keys and has a
 * form for one. Otherwise shows the reason.
 */
export function Refused({ seen, hasKey, onKey, server }: RefusedProps) {
  if (!lacksKey(seen))
    return (
      <section class="refused" aria-labelledby="refused-title">
        <h2 id="refused-title">The server refused the connection</h2>
        <p role="alert">{seen.refused}</p>
        <button type="button" class="primary" onClick={() => location.reload()}>
          Try again
        </button>
      </section>
    );
  return (
    <section class="refused" aria-labelledby="refused-title">
      <h2 id="refused-title">{hasKey ? "This key does not work" : "This server is for people with a key"}</h2>
      <p role="alert">
        {hasKey
          ? "The server does not know it, or it has expired. Make sure that you pasted all of it, or ask for a new one."
          : "A key is a long word that gives you access to this server, like a password. Most begin with fw_."}{" "}
        Keys come from whoever runs {server.host}. There is no sign-up on this page.
      </p>
      <KeyForm onKey={onKey} />
      {hasKey && (
        <button type="button" onClick={() => onKey(undefined)}>
          Continue without a key
        </button>
      )}
      <details>
        <summary>You run this server?</summary>
        <p>
          Create a key with <code>flarewire keys add --file keys.json --plan pro</code>, for the file that{" "}
          <code>--keys</code> names. In a clone, type <code>npm run flarewire --</code> instead of{" "}
          <code>flarewire</code>. <a href={new URL("docs/operating#keys", server).href}>More about keys</a>
        </p>
        <p>
          The server said: <q>{seen.connection.reason || seen.refused}</q>
        </p>
      </details>
    </section>
  );
}

/** Shows the visitor's plan, and a form for a key. Empty if the server uses no keys. */
export function Plan({ seen, hasKey, onKey }: AccessPanelProps) {
  const [isOpen, setOpen] = useState(false);
  const plan = seen.access?.plan;
  if (plan === undefined) return null;
  const words = plan === "pro" ? "full access" : "flares appear after five minutes";
  return (
    <section class="plan" aria-label="Your access">
      <p>
        {hasKey ? `Your key gives you the ${plan} plan` : `Without a key, you are on the ${plan} plan`}:{" "}
        {words}.{" "}
        {hasKey ? (
          <button type="button" onClick={() => onKey(undefined)}>
            Forget the key
          </button>
        ) : (
          <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            Enter a key
          </button>
        )}
      </p>
      {isOpen && !hasKey && <KeyForm onKey={onKey} />}
    </section>
  );
}
