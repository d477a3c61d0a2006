import { useState } from "preact/hooks";
import type { FlareQuery } from "../../state/flare-query.ts";
import { Segments } from "../segments.tsx";
import { botSamples, describeQuery, SAMPLE_KINDS, type SampleKind } from "./bot-samples.ts";
import { CodeSample } from "./code-sample.tsx";
import { Sheet } from "./sheet.tsx";

export interface BotDialogProps {
  /** The view on the screen. */
  readonly query: FlareQuery;
  readonly server: URL;
  /** Whether the server uses keys. */
  readonly hasKeys: boolean;
  readonly onClose: () => void;
}

/** The flares on the screen as commands and programs to copy. */
export function BotDialog({ query, server, hasKeys, onClose }: BotDialogProps) {
  const [kind, setKind] = useState<SampleKind>("curl");
  const samples = botSamples(query, server, hasKeys);
  return (
    <Sheet title="Use in a bot" onClose={onClose}>
      <p>{describeQuery(query)}</p>
      <Segments
        legend="Language"
        name="sample"
        options={SAMPLE_KINDS}
        chosen={kind}
        onChoose={setKind}
        label={(name) => samples[name].title}
      />
      <CodeSample key={kind} {...samples[kind]} />
    </Sheet>
  );
}
