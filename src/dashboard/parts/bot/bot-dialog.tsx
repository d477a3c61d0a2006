import { useEffect, useRef, useState } from "preact/hooks";
import type { FlareQuery } from "../../state/flare-query.ts";
import { Segments } from "../segments.tsx";
import { botSamples, describeQuery, SAMPLE_KINDS, type SampleKind } from "./bot-samples.ts";
import "./bot.css";

export interface BotDialogProps {
  readonly query: FlareQuery;
  readonly server: URL;
  readonly onClose: () => void;
}

/** The flares on the screen as commands and programs to copy. */
export function BotDialog({ query, server, onClose }: BotDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const code = useRef<HTMLElement>(null);
  const [kind, setKind] = useState<SampleKind>("curl");
  const [copied, setCopied] = useState("");
  useEffect(() => dialog.current?.showModal(), []);
  const { note, text } = botSamples(query, server)[kind];
  const copy = () => {
    navigator.clipboard?.writeText(text).then(
      () => setCopied("Copied"),
      () => selectAll(code.current, setCopied),
    ) ?? selectAll(code.current, setCopied);
  };
  return (
    <dialog class="bot" ref={dialog} onClose={onClose} aria-labelledby="bot-title">
      <div class="bot-head">
        <h2 id="bot-title">Use this in a bot</h2>
        <button type="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
      <p>{describeQuery(query)}</p>
      <Segments
        legend="Language"
        name="sample"
        options={SAMPLE_KINDS}
        chosen={kind}
        onChoose={(name) => {
          setKind(name);
          setCopied("");
        }}
        label={(name) => botSamples(query, server)[name].title}
      />
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
    </dialog>
  );
}

/** Without access to the clipboard, selects the text for the keyboard's own command. */
function selectAll(element: Element | null, say: (text: string) => void): void {
  if (element) getSelection()?.selectAllChildren(element);
  say("Selected: press Ctrl+C");
}
