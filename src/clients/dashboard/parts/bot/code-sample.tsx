import { useRef, useState } from "preact/hooks";

/** Text to copy. Callers give another text another `key`, which resets the state of the button. */
export function CodeSample({ text, note }: { readonly text: string; readonly note: string }) {
  const code = useRef<HTMLElement>(null);
  const [copied, setCopied] = useState("");
  const copy = () => {
    navigator.clipboard?.writeText(text).then(
      () => setCopied("Copied"),
      () => selectAll(code.current, setCopied),
    ) ?? selectAll(code.current, setCopied);
  };
  return (
    <>
      <pre>
        <code ref={code}>{text}</code>
      </pre>
      <p class="bot-foot">
        <button type="button" class="primary" onClick={copy}>
          Copy
        </button>
        <span role="status">{copied}</span>
        <span class="soft">{note}</span>
      </p>
    </>
  );
}

/** Selects the text to copy by keyboard, for pages without access to the clipboard. */
function selectAll(element: Element | null, say: (text: string) => void): void {
  if (element) getSelection()?.selectAllChildren(element);
  say("Selected: press Ctrl+C");
}
