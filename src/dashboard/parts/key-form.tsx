import { useId, useState } from "preact/hooks";
import { KEY } from "../state/stored-key.ts";

/** Takes a key. It stands in no address: the field has no name, and the form is never sent. */
export function KeyForm({ onKey }: { readonly onKey: (key: string, isKept: boolean) => void }) {
  const about = useId();
  const [key, setKey] = useState("");
  const [isKept, setKept] = useState(false);
  const give = (event: Event) => {
    event.preventDefault();
    if (key.trim() !== "") onKey(key.trim(), isKept);
  };
  return (
    <form class="key" onSubmit={give}>
      <label>
        Key
        <input
          type="password"
          autocomplete="off"
          spellcheck={false}
          required
          pattern={`\\s*${KEY}\\s*`}
          title="A key as it was given to you: one word of letters, digits and signs"
          aria-describedby={about}
          value={key}
          onInput={(event) => setKey(event.currentTarget.value)}
        />
      </label>
      <label class="choice">
        <input type="checkbox" checked={isKept} onChange={(event) => setKept(event.currentTarget.checked)} />
        <span>Keep it until this tab is closed</span>
      </label>
      <button type="submit">Use this key</button>
      <p id={about}>
        It is sent in a header field only; unless it is kept, loading the page again forgets it.
      </p>
    </form>
  );
}
