import { useState } from "preact/hooks";

/** Asks for a key where the server serves nobody without. */
export function KeyForm({
  reason,
  onKey,
}: {
  readonly reason: string;
  readonly onKey: (key: string) => void;
}) {
  const [key, setKey] = useState("");
  const give = (event: Event) => {
    event.preventDefault();
    if (key.trim() !== "") onKey(key.trim());
  };
  return (
    <form class="key" onSubmit={give}>
      <h2>The server does not serve this page</h2>
      <p role="alert">{reason}</p>
      <label>
        Key
        <input
          type="password"
          autocomplete="off"
          value={key}
          onInput={(event) => setKey(event.currentTarget.value)}
        />
      </label>
      <button type="submit">Use this key</button>
      <p>It stays in this tab and is sent in a header field only.</p>
    </form>
  );
}
