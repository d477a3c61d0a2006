import { useRef, useState } from "preact/hooks";

/** Text to copy. Change its key with the text. */
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

/** Without access to the clipboard, selects the text for the keyboard's own command. */
function selectAll(element: Element | null, say: (text: string) => void): void {
  if (element) getSelection()?.selectAllChildren(element);
  say("Selected: press Ctrl+C");
}
