import { useId, useState } from "preact/hooks";
import { KEY } from "../../state/visitor/stored-key.ts";

/** A form for a key. The field has no name and is never submitted, so no URL contains the key. */
export function KeyForm({ onKey }: { readonly onKey: (key: string, isStored: boolean) => void }) {
  const about = useId();
  const [key, setKey] = useState("");
  const [isStored, setStored] = useState(false);
  const submit = (event: Event) => {
    event.preventDefault();
    if (key.trim() !== "") onKey(key.trim(), isStored);
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
