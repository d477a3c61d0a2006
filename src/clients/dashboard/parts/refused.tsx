import { useId, useState } from "preact/hooks";
import { lacksKey } from "../state/judge.ts";
import { isAnonymous, KEY, server, seen as state, switchKey } from "../state/store.ts";

/**
 * Replaces the pages for a rejected visitor. If a valid key is missing, explains keys and has a
 * form for one. Otherwise shows the reason.
 */
export function Refused() {
  const seen = state.value;
  const hasKey = !isAnonymous.value;
  if (!seen) return null;
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
        Keys come from whoever runs {server.value.host}. There is no sign-up on this page.
      </p>
      <KeyForm />
      {hasKey && (
        <button type="button" onClick={() => switchKey(undefined)}>
          Continue without a key
        </button>
      )}
      <details>
        <summary>You run this server?</summary>
        <p>
          Create a key with <code>flarewire keys add --file keys.json --plan pro</code>, for the file that{" "}
          <code>--keys</code> names. In a clone, type <code>npm run flarewire --</code> instead of{" "}
          <code>flarewire</code>.{" "}
          <a href={new URL("docs/operating#keys", server.value).href}>More about keys</a>
        </p>
        <p>
          The server said: <q>{seen.connection.reason || seen.refused}</q>
        </p>
      </details>
    </section>
  );
}

/** A form for a key. The field has no name and is never submitted, so no URL contains the key. */
export function KeyForm() {
  const about = useId();
  const [key, setKey] = useState("");
  const [isStored, setStored] = useState(false);
  const submit = (event: Event) => {
    event.preventDefault();
    if (key.trim() !== "") switchKey(key.trim(), isStored);
  };
  return (
    <form class="key" onSubmit={submit}>
      <label>
        Key
        <input
          type="password"
          autocomplete="off"
          spellcheck={false}
          required
          pattern={`\\s*${KEY}\\s*`}
          title="The key that you received: one word of letters, digits and symbols"
          aria-describedby={about}
          value={key}
          onInput={(event) => setKey(event.currentTarget.value)}
        />
      </label>
      <label class="choice">
        <input
          type="checkbox"
          checked={isStored}
          onChange={(event) => setStored(event.currentTarget.checked)}
        />
        <span>Remember it until this tab is closed</span>
      </label>
      <button type="submit" class="primary">
        Use this key
      </button>
      <p id={about} class="soft">
        The key is sent only to this server, and never appears in an address. Unless remembered, it is
        forgotten on reload.
      </p>
    </form>
  );
}
