import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import "./bot.css";

interface SheetProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** A modal dialog over the page. Escape, its button and another address close it. */
export function Sheet({ title, onClose, children }: SheetProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    dialog.current?.showModal();
    const close = () => dialog.current?.close();
    addEventListener("hashchange", close);
    return () => removeEventListener("hashchange", close);
  }, []);
  return (
    <dialog class="bot" ref={dialog} onClose={onClose} aria-labelledby={id}>
      <div class="bot-head">
        <h2 id={id}>{title}</h2>
        <button type="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
      {children}
    </dialog>
  );
}

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
